/** Bytes of new buffers between collections. Chosen: keys and values of 430 tokens. With more, the memory of the inference process has higher peaks. */
const MOST_BYTES = 8 * 2 ** 20;

/**
 * Frees unreferenced buffers. V8 accounts for them only roughly: in each thread it would keep up to 64 MiB of them beside a
 * heap of 8 MiB.
 */
export class BufferCollector {
  readonly #collect: () => void;
  #bytes = 0;

  /** @param collect runs a garbage collection; by default `gc` of Node.js, which exists only with `--expose-gc` */
  constructor(collect: () => void = globalThis.gc ?? (() => {})) {
    this.#collect = collect;
  }

  /** Call after allocating buffers, when older ones may be unreferenced. @param bytes size of the new buffers */
  allocated(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < MOST_BYTES) return;
    this.#bytes = 0;
    this.#collect();
  }
}
