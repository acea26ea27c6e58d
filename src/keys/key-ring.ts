import { timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileFault, ServiceError } from "../errors.ts";
import { utf8Text } from "../utf8.ts";
import { digestOf, type KeyEntry, parseKeyFile } from "./key-file.ts";
import { KeyRates } from "./key-rates.ts";

/** Who has shown a key. */
export interface KeyHolder {
  readonly name: string;
  /** Undefined: without bound. */
  readonly rates: KeyRates | undefined;
}

interface Held extends KeyHolder {
  readonly entry: KeyEntry;
  readonly digest: Buffer;
}

/** The name of the key in DECISION_API_KEY. */
const SINGLE = "default";

/** The keys that are accepted now: one from the environment, and those of a file, which may be read again. */
export class KeyRing {
  readonly #file: string | undefined;
  readonly #single: readonly KeyEntry[];
  #holders: ReadonlyMap<string, Held> = new Map();
  #isCurrent = false;

  /**
   * @param keys.apiKey the key from the environment
   * @param keys.file   path of the file
   * @throws ServiceError INVALID_OPTION
   */
  constructor({
    apiKey,
    file,
  }: { readonly apiKey?: string | undefined; readonly file?: string | undefined }) {
    this.#file = file;
    this.#single = apiKey === undefined ? [] : [{ name: SINGLE, digest: digestOf(apiKey) }];
    this.reload();
  }

  /**
   * Who has this key. Digests are compared, each in constant time, so that neither the time nor the length tells
   * anything of a key.
   *
   * @param key its bytes
   */
  find(key: Uint8Array): KeyHolder | undefined {
    const given = Buffer.from(digestOf(key), "hex");
    let found: KeyHolder | undefined;
    for (const holder of this.#holders.values()) {
      if (timingSafeEqual(given, holder.digest)) found = holder;
    }
    return found;
  }

  /** Whether these are the keys of the file: false once it could not be read. Undefined without a file. */
  get isCurrent(): boolean | undefined {
    return this.#file === undefined ? undefined : this.#isCurrent;
  }

  /**
   * Reads the file again. Keys whose bounds are as before keep what they have used.
   *
   * @throws ServiceError INVALID_OPTION; the keys then stay as they are
   */
  reload(): void {
    this.#isCurrent = false;
    const entries = [...this.#single, ...(this.#file === undefined ? [] : readKeyFile(this.#file))];
    this.#holders = new Map(entries.map((entry) => [entry.digest, this.#holderOf(entry)]));
    this.#isCurrent = true;
  }

  #holderOf(entry: KeyEntry): Held {
    const { name, digest, requestsPerMinute, tokensPerMinute } = entry;
    const before = this.#holders.get(digest);
    const isSame =
      before?.entry.requestsPerMinute === requestsPerMinute &&
      before?.entry.tokensPerMinute === tokensPerMinute;
    if (before !== undefined && isSame) return { ...before, name, entry };
    const isBound = requestsPerMinute !== undefined || tokensPerMinute !== undefined;
    return {
      name,
      entry,
      digest: Buffer.from(digest, "hex"),
      rates: isBound ? new KeyRates(entry) : undefined,
    };
  }
}

/** @throws ServiceError INVALID_OPTION */
export function readKeyFile(file: string): readonly KeyEntry[] {
  let text: string;
  try {
    text = utf8Text(readFileSync(file), (fault) => new Error(`it ${fault}`));
  } catch (cause) {
    throw new ServiceError(
      "INVALID_OPTION",
      `the file of keys ${file} cannot be read: ${fileFault(cause)}.`,
      {
        cause,
      },
    );
  }
  return parseKeyFile(text, file);
}
