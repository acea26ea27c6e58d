import { constants, openSync, write, writeSync } from "node:fs";
import { Socket } from "node:net";

/** Bytes that may wait to be written. Chosen: several thousand lines. */
const MOST_WAITING_BYTES = 2 ** 20;
/** Bytes that one call writes, unless a line is longer. Chosen: as many as a pipe holds. */
const BYTES_AT_ONCE = 65_536;
/** Time between two tries while the reader does not read. Chosen: rare enough to cost nothing. */
const RETRY_MS = 50;

/** The calls of the system, or doubles of a test. */
export interface FileCalls {
  write(bytes: Uint8Array, done: (error: NodeJS.ErrnoException | null, written: number) => void): void;
  /** @throws the system's error */
  writeNow(bytes: Uint8Array): number;
  after(ms: number, act: () => void): void;
}

/**
 * Writes the lines of a log in the background, so that neither a full disk nor a reader that stalls stops anything.
 * Lines that cannot be written, or that exceed what may wait, are lost and counted.
 */
export class LogFile {
  /** Lines that have not been written, and will not be. */
  lost = 0;
  readonly #calls: FileCalls;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** What is being written: the rest of some lines. */
  #current: Buffer | undefined;
  #currentLines = 0;
  #isCalling = false;

  constructor(calls: FileCalls) {
    this.#calls = calls;
  }

  /** @param line with its line break. Never throws */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > MOST_WAITING_BYTES) {
      this.lost += 1;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#current === undefined) this.#writeNext();
  }

  /** Writes what waits, as far as that is possible at once. To be called when the process ends. */
  flush(): void {
    if (this.#isCalling) this.#current = undefined; // a thread is about to write it
    try {
      for (let bytes = this.#next(); bytes !== undefined; bytes = this.#next()) {
        const written = this.#calls.writeNow(bytes);
        if (written === 0) return;
        this.#advance(written);
      }
    } catch {
      // the rest cannot be written
    }
  }

  #writeNext(): void {
    const bytes = this.#next();
    if (bytes === undefined) return;
    this.#isCalling = true;
    this.#calls.write(bytes, (error, written) => {
      this.#isCalling = false;
      if (error?.code === "EAGAIN") {
        this.#calls.after(RETRY_MS, () => this.#writeNext());
        return;
      }
      if (error === null) this.#advance(written);
      else this.#drop();
      this.#writeNext();
    });
  }

  /** The rest of what is being written, else the next lines. */
  #next(): Buffer | undefined {
    if (this.#current !== undefined) return this.#current;
    let bytes = 0;
    let lines = 0;
    for (const line of this.#waiting) {
      if (lines > 0 && bytes + line.length > BYTES_AT_ONCE) break;
      bytes += line.length;
      lines += 1;
    }
    if (lines === 0) return undefined;
    this.#current = Buffer.concat(this.#waiting.splice(0, lines), bytes);
    this.#currentLines = lines;
    this.#waitingBytes -= bytes;
    return this.#current;
  }

  #advance(written: number): void {
    const rest = this.#current?.subarray(written);
    this.#current = rest?.length === 0 ? undefined : rest;
  }

  #drop(): void {
    this.lost += this.#currentLines;
    this.#current = undefined;
  }
}

/** Standard error. What waits is written when the process ends. */
export function standardErrorFile(): LogFile {
  const fd = withoutBlocking();
  const file = new LogFile({
    write: (bytes, done) => write(fd, bytes, 0, bytes.length, null, done),
    writeNow: (bytes) => writeSync(fd, bytes),
    after: (ms, act) => void setTimeout(act, ms).unref(),
  });
  process.on("exit", () => file.flush());
  return file;
}

/**
 * Standard error as a file whose calls do not wait for a reader: a call that waits would hold a thread of Node.js, for
 * which the process waits when it exits. Files on a disk need no such treatment, and ignore it.
 */
function withoutBlocking(): number {
  const STDERR = 2;
  try {
    // a second opening leaves the first one, which other programs may share, as it is
    if (process.platform === "linux")
      return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    // a socket, or another user's pipe
  }
  try {
    // Node.js opens a pipe or a socket without blocking. Its own streams come first: they would undo it.
    void [process.stdout, process.stderr];
    new Socket({ fd: STDERR, readable: false, writable: true }).on("error", () => {}).unref();
  } catch {
    // a file
  }
  return STDERR;
}
