import { closeSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import type { WeightsFile } from "../../onnx/file/graph-builder.ts";

/** Alignment of constants, so that they can be memory-mapped. */
const ALIGNMENT = 4096;

/** Writes a graph's large constants to a file, one after the other. */
export class WeightsWriter implements WeightsFile {
  readonly name: string;
  readonly #descriptor: number;
  #length = 0;

  /** Creates the file. @throws the system's error */
  constructor(folder: string, name: string) {
    this.name = name;
    this.#descriptor = openSync(path.join(folder, name), "wx");
  }

  /** @throws the system's error, when the disk is full for example */
  append(parts: Iterable<Uint8Array>): { readonly offset: number; readonly length: number } {
    this.#write(new Uint8Array((ALIGNMENT - (this.#length % ALIGNMENT)) % ALIGNMENT));
    const offset = this.#length;
    for (const part of parts) this.#write(part);
    return { offset, length: this.#length - offset };
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done);
    }
    this.#length += bytes.length;
  }
}
