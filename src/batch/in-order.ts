/** Limits on concurrent work. */
export interface Window {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Processes items concurrently and yields the results in the order of the items.
 *
 * @param sizeOf bytes of an item, counted until its result is taken
 * @throws what the source or `work` throws
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<Result>,
  sizeOf: (item: Item) => number,
  { rows, bytes }: Window,
): AsyncGenerator<Result> {
  const pending: { readonly result: Promise<Result>; readonly size: number }[] = [];
  let held = 0;
  let isOver = false;
  let wake = () => {};
  const changed = () => new Promise<void>((resolve) => (wake = resolve));

  async function fill(): Promise<void> {
    try {
      for await (const item of items) {
        if (isOver) return;
        const size = sizeOf(item);
        const result = work(item);
        result.catch(() => {}); // awaited in order below
        pending.push({ result, size });
        held += size;
        wake();
        while (!isOver && (pending.length >= rows || held >= bytes)) await taken();
      }
    } finally {
      isOver = true;
      wake();
    }
  }
  let release = () => {};
  const taken = () => new Promise<void>((resolve) => (release = resolve));

  const filling = fill();
  filling.catch(() => {}); // awaited below
  try {
    for (;;) {
      const first = pending[0];
      if (first !== undefined) {
        const result = await first.result;
        pending.shift();
        held -= first.size;
        release();
        yield result;
      } else if (isOver) break;
      else await changed();
    }
    await filling;
  } finally {
    isOver = true;
    release();
  }
}
