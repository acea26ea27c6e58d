/** Bytes of buffers after which garbage is collected. Chosen: keys and values of 1,300 tokens, which take some 400 ms; collecting takes 13. */
const MOST_BYTES = 24 * 2 ** 20;

/**
 * Collects buffers that nobody refers to. V8 counts them only roughly: it lets 64 MiB of them lie beside a heap of 8, in each thread.
 */
export class Garbage {
  readonly #collect: () => void;
  #bytes = 0;

  /** @param collect of a process with `--expose-gc`; without it nothing is done */
  constructor(collect: () => void = globalThis.gc ?? (() => {})) {
    this.#collect = collect;
  }

  /** To be told of new buffers, when the ones before them may be garbage. */
  note(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < MOST_BYTES) return;
    this.#bytes = 0;
    this.#collect();
  }
}
