import { open, rename, rm, rmdir, stat, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../errors.ts";
import { openManifest, readManifestText } from "../models/package/package.ts";
import { makeFolder } from "../models/package/package-file.ts";
import type { PublishedModel } from "../models/store/catalogue.ts";
import { packageFolder } from "../models/store/store.ts";
import { type LockPace, takeLock } from "../models/store/store-lock.ts";
import { HubClient, type HubFile } from "./client.ts";
import { download, type Wanted } from "./download.ts";
import { diskError, failed } from "./failures.ts";
import { completeFiles, copyCached, manifestText, rightBytes } from "./local-files.ts";
import { type Patience, Retries } from "./patience.ts";
import type { HubSettings } from "./settings.ts";

export interface PullOptions extends Patience {
  readonly store: string;
  readonly settings: HubSettings;
  /** Flag or variable that forbids connections, if any. */
  readonly offlineBy?: string | undefined;
  readonly onProgress: (progress: PullProgress) => void;
  readonly lockPace?: LockPace;
}

export interface PullProgress {
  readonly file: string;
  /** Bytes of all files to fetch. */
  readonly bytes: number;
  /** Undefined if the hub gives no sizes. */
  readonly totalBytes: number | undefined;
}

/** Source of a file: already present, the hub's cache, or the hub. */
export type FileSource = "present" | "cache" | "hub";

export interface PulledModel {
  readonly id: string;
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly source: FileSource }[];
}

/**
 * Fetches a published model: every file of its pinned commit, checked against its pinned digest. A file gets its name
 * after the check, and the manifest is written last. Existing files are not fetched again. If the package is complete,
 * nothing is written.
 *
 * @throws ServiceError PULL_FAILED; the signal's reason
 */
export async function pullModel(model: PublishedModel, options: PullOptions): Promise<PulledModel> {
  const { manifest } = model;
  const folder = packageFolder(options.store, manifest.id);
  const files = (await presentFiles(model, folder, options.signal)) ?? (await bring(model, folder, options));
  return { id: manifest.id, folder, files };
}

/** The files of a complete package, unless a killed pull left files to clean up. */
async function presentFiles(
  { manifest }: PublishedModel,
  folder: string,
  signal: AbortSignal,
): Promise<PulledModel["files"] | undefined> {
  if (await isThere(partialsOf(folder))) return undefined;
  const files = await completeFiles(folder, manifest, signal);
  return files?.map((file) => ({ ...file, source: "present" }));
}

/** One pull of a package at a time. */
async function bring(
  model: PublishedModel,
  folder: string,
  options: PullOptions,
): Promise<PulledModel["files"]> {
  const partials = partialsOf(folder);
  const onDisk = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw isOfFiles(error) && !options.signal.aborted ? diskError(error, folder) : error;
    });
  const lock = await onDisk(
    takeLock(`${folder}.lock`, {
      signal: options.signal,
      onWait: (owner) => options.note(`waiting for ${owner}, which is pulling this model`),
      ...(options.lockPace ? { pace: options.lockPace } : {}),
    }),
  );
  try {
    const signal = lock ? AbortSignal.any([options.signal, lock.lost]) : options.signal;
    await onDisk(makeFolder(folder));
    await onDisk(makeFolder(partials));
    const files = await onDisk(
      new Pull(model, folder, partials, { ...options, signal }).run().catch((error: unknown) => {
        if (lock?.lost.aborted) throw failed("another process has taken over this pull.", error);
        throw error;
      }),
    );
    await onDisk(rm(partials, { recursive: true, force: true }));
    return files;
  } finally {
    // leaves nothing behind if nothing was received: only empty folders are removed
    for (const empty of [partials, folder]) await rmdir(empty).catch(() => {});
    await lock?.release();
    await rmdir(path.dirname(folder)).catch(() => {});
  }
}

class Pull {
  readonly #model: PublishedModel;
  readonly #folder: string;
  readonly #partials: string;
  readonly #options: PullOptions;

  constructor(model: PublishedModel, folder: string, partials: string, options: PullOptions) {
    this.#model = model;
    this.#folder = folder;
    this.#partials = partials;
    this.#options = options;
  }

  async run(): Promise<PulledModel["files"]> {
    const { manifest } = this.#model;
    const sources = new Map<string, FileSource>();
    const missing: string[] = [];
    for (const name of Object.keys(manifest.files)) {
      this.#options.signal.throwIfAborted();
      const source = await this.#findLocally(name);
      if (source) sources.set(name, source);
      else missing.push(name);
    }
    if (missing.length > 0) {
      // if a file is wrong or missing, the folder must not look complete
      await rm(path.join(this.#folder, "manifest.json"), { force: true });
      await this.#fetch(missing);
      for (const name of missing) sources.set(name, "hub");
    }
    await this.#writeManifest();
    return Promise.all(
      [...sources].map(async ([name, source]) => {
        const { size } = await stat(path.join(this.#folder, name));
        return { name, bytes: size, source };
      }),
    );
  }

  async #findLocally(name: string): Promise<FileSource | undefined> {
    const sha256 = this.#digest(name);
    const present = await rightBytes(this.#folder, name, sha256, this.#options.signal);
    if (present !== undefined) return "present";
    const { cache } = this.#options.settings;
    const { repository, revision } = this.#model.manifest.origin;
    const snapshot = path.join(cache, `models--${repository.replace("/", "--")}`, "snapshots", revision);
    const copy = this.#partial(`${name}.copy`);
    if (!(await copyCached({ snapshot, name, sha256 }, copy, this.#options))) return undefined;
    await this.#settle(copy, name);
    return "cache";
  }

  async #fetch(names: readonly string[]): Promise<void> {
    const { settings, offlineBy, signal } = this.#options;
    const forbidden = offlineBy ?? settings.offlineBy;
    if (forbidden !== undefined) {
      throw failed(
        `${names.join(", ")} of ${this.#model.manifest.id} are not on this machine, and ${forbidden} forbids downloads.`,
      );
    }
    const client = new HubClient(settings, signal);
    try {
      const wanted: Wanted[] = [];
      for (const name of names) wanted.push(await this.#ask(client, name));
      await this.#checkSpace(wanted);
      await this.#downloadAll(client, wanted);
    } finally {
      await client.close();
    }
  }

  /** Checks the hub's metadata of a file against the pinned digest. */
  async #ask(client: HubClient, name: string): Promise<Wanted> {
    const { maxFileBytes, manifest } = this.#model;
    const file: HubFile = { ...manifest.origin, name };
    const facts = await new Retries(this.#options).until(name, () => client.facts(file));
    const sha256 = this.#digest(name);
    if (facts.sha256 !== undefined && facts.sha256 !== sha256)
      throw failed(`${name} has the SHA-256 ${facts.sha256} at the hub, expected ${sha256}.`);
    if ((facts.bytes ?? 0) > maxFileBytes)
      throw failed(`${name} has ${facts.bytes} bytes at the hub; the maximum is ${maxFileBytes}.`);
    return { file, sha256, bytes: facts.bytes, maxBytes: maxFileBytes, partial: this.#partial(name) };
  }

  /** Checks free disk space before the download. */
  async #checkSpace(wanted: readonly Wanted[]): Promise<void> {
    const have = await Promise.all(
      wanted.map(({ partial }) =>
        stat(partial).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    const needed = wanted.reduce((sum, { bytes = 0 }, at) => sum + Math.max(0, bytes - (have[at] ?? 0)), 0);
    const { bavail, bsize } = await statfs(this.#folder);
    const free = bavail * bsize;
    if (needed <= free) return;
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    throw failed(`the disk of ${this.#folder} has ${megabytes(free)} free; ${megabytes(needed)} are needed.`);
  }

  async #downloadAll(client: HubClient, wanted: readonly Wanted[]): Promise<void> {
    const isSized = wanted.every(({ bytes }) => bytes !== undefined);
    const totalBytes = isSized ? wanted.reduce((sum, { bytes = 0 }) => sum + bytes, 0) : undefined;
    let before = 0;
    for (const each of wanted) {
      const { name } = each.file;
      let last = 0;
      const onBytes = (bytes: number) => {
        last = bytes;
        this.#options.onProgress({ file: name, bytes: before + bytes, totalBytes });
      };
      await download(each, { ...this.#options, client, onBytes });
      await this.#settle(each.partial, name);
      before += each.bytes ?? last;
    }
  }

  /** Moves a checked file to its name. */
  async #settle(partial: string, name: string): Promise<void> {
    await rename(partial, path.join(this.#folder, name));
  }

  async #writeManifest(): Promise<void> {
    const file = path.join(this.#folder, "manifest.json");
    const text = manifestText(this.#model.manifest);
    if ((await readManifestText(this.#folder).catch(() => "")) === text) return;
    await syncFolder(this.#folder); // the files first, then the manifest that lists them
    const fresh = this.#partial("manifest.json");
    await writeFile(fresh, text, { flush: true });
    await rename(fresh, file);
    await syncFolder(this.#folder);
    await openManifest(this.#folder);
  }

  #partial(name: string): string {
    return path.join(this.#partials, name);
  }

  #digest(name: string): string {
    return this.#model.manifest.files[name] ?? "none";
  }
}

/** Folder of incomplete files. */
const partialsOf = (folder: string) => `${folder}.partial`;

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Whether an error is a file-system error. */
function isOfFiles(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && codeOf(error) !== undefined;
}

/** Flushes a folder, so that a power failure does not undo a rename. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    // some file systems do not support this
    if (!["EINVAL", "ENOTSUP", "EISDIR", "EPERM"].includes(codeOf(error) ?? "")) throw error;
  } finally {
    await handle.close();
  }
}
