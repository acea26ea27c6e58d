import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { packageRoot } from "./package-root.ts";

/** Messages by type. */
type Held = "load" | "score";

/**
 * Holds back messages of a service to its inference process, so that a test can find it busy without a large request.
 */
export class HeldMessages {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param released those that are not held at first */
  static async create(...released: readonly Held[]): Promise<HeldMessages> {
    const held = new HeldMessages(await mkdtemp(path.join(tmpdir(), "held-messages-")));
    for (const type of released) await held.release(type);
    return held;
  }

  /** For the service. */
  get env(): Readonly<Record<string, string>> {
    const plant = path.join(packageRoot, "test/support/planted-fault.cjs");
    return { NODE_OPTIONS: `--require ${plant} --conditions="holds messages for ${this.#folder}"` };
  }

  /** Delivers held messages of this type and all later ones. */
  async release(type: Held): Promise<void> {
    await writeFile(path.join(this.#folder, type), "");
  }

  /** From now on, new ones of these are held again. */
  async hold(type: Held): Promise<void> {
    await rm(path.join(this.#folder, type));
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
