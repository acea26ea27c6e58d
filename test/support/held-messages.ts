import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { plantedInNode } from "./tested-backends.ts";

/** Holds back what a service tells its inference process, by message: so a test needs no large request to find it at work. */
export class HeldMessages {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<HeldMessages> {
    return new HeldMessages(await mkdtemp(path.join(tmpdir(), "held-messages-")));
  }

  /** For the service. */
  get env(): Readonly<Record<string, string>> {
    return plantedInNode(`holds messages for ${this.#folder}`);
  }

  /** From now on, these messages are read, also those that were held. */
  async release(type: "load" | "score"): Promise<void> {
    await writeFile(path.join(this.#folder, type), "");
  }

  /** From now on, new ones of these are held again. */
  async hold(type: "load" | "score"): Promise<void> {
    await rm(path.join(this.#folder, type));
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
