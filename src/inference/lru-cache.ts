/** Values by key, of a size in all; those least recently used leave first. */
export class LruCache<Value> {
  readonly #maxSize: number;
  readonly #sizeOf: (value: Value) => number;
  readonly #values = new Map<string, Value>(); // oldest use first
  /** Stands before the oldest: a new one would walk over the places of all that have been deleted since the map last grew. */
  #oldest = this.#values.keys();
  /** Entries that have got a new place since `#oldest` was made. */
  #moved = 0;
  #size = 0;

  /** @param sizeOf the same for a value at any time */
  constructor(maxSize: number, sizeOf: (value: Value) => number) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  /** Entries. */
  get count(): number {
    return this.#values.size;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#append(key, value);
    return value;
  }

  /** A value that is too large for all of the cache is not kept. */
  set(key: string, value: Value): void {
    this.#delete(key);
    const size = this.#sizeOf(value);
    if (size > this.#maxSize) return;
    this.#append(key, value);
    this.#size += size;
    while (this.#size > this.#maxSize) this.#deleteOldest();
  }

  /**
   * Makes `#oldest` anew once all entries have moved on: it keeps alive the table of the map that it was made on, and through that one
   * (in V8) all later ones.
   */
  #append(key: string, value: Value): void {
    this.#values.set(key, value);
    this.#moved += 1;
    if (this.#moved > this.#values.size) this.#restart();
  }

  #restart(): void {
    this.#oldest = this.#values.keys();
    this.#moved = 0;
  }

  #deleteOldest(): void {
    const { done, value } = this.#oldest.next();
    if (done) this.#restart();
    else this.#delete(value);
  }

  #delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#size -= this.#sizeOf(value);
  }
}
