import { createHash } from "node:crypto";
import { open, readFile, rename, rm, rmdir, stat, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../errors.ts";
import type { Manifest } from "../models/package/manifest.ts";
import { openManifest, readManifestText } from "../models/package/package.ts";
import { makeFolder } from "../models/package/package-file.ts";
import { type LockPace, takeLock } from "../models/store/store-lock.ts";
import { HubClient, type HubFile, type HubRevision } from "./client.ts";
import { download, type Wanted } from "./download.ts";
import { diskError, failed } from "./failures.ts";
import { completeFiles, copyCached, manifestText, rightBytes } from "./local-files.ts";
import { type Patience, Retries } from "./patience.ts";
import type { RepositoryFile } from "./repository.ts";
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

/** Files of a package, and where they came from. */
export type PulledFiles = readonly {
  readonly name: string;
  readonly bytes: number;
  readonly source: FileSource;
}[];

/** Maximum size of a graph and its data. Chosen: larger ones would not answer in time on processors. */
const MAX_GRAPH_BYTES = 2 ** 34;

/** The files of a complete package, unless a killed pull left files to clean up. */
export async function presentFiles(
  manifest: Manifest,
  folder: string,
  signal: AbortSignal,
): Promise<PulledFiles | undefined> {
  if (await isThere(partialsOf(folder))) return undefined;
  const files = await completeFiles(folder, manifest, signal);
  return files?.map((file) => ({ ...file, source: "present" }));
}

/** One pull of a package at a time. */
export async function inFolder(
  origin: HubRevision,
  folder: string,
  options: PullOptions,
  work: (pull: PackagePull) => Promise<PulledFiles>,
): Promise<PulledFiles> {
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
      work(new PackagePull(origin, folder, partials, { ...options, signal })).catch((error: unknown) => {
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

/** A file of a package. */
export interface PackageFile {
  readonly name: string;
  /** Path in the repository. */
  readonly path: string;
  readonly sha256: string;
  /** Maximum size, whatever the hub says. */
  readonly maxBytes: number;
}

export class PackagePull {
  readonly #origin: HubRevision;
  readonly #folder: string;
  readonly #partials: string;
  readonly #options: PullOptions;
  readonly #sources = new Map<string, FileSource>();

  constructor(origin: HubRevision, folder: string, partials: string, options: PullOptions) {
    this.#origin = origin;
    this.#folder = folder;
    this.#partials = partials;
    this.#options = options;
  }

  /** Puts files into the folder, from wherever they are. */
  async bring(files: readonly PackageFile[]): Promise<void> {
    const missing: PackageFile[] = [];
    for (const file of files) {
      this.#options.signal.throwIfAborted();
      const source = await this.#findLocally(file);
      if (source) this.#sources.set(file.name, source);
      else missing.push(file);
    }
    if (missing.length === 0) return;
    await this.#markIncomplete();
    await this.#fetch(missing);
    for (const { name } of missing) this.#sources.set(name, "hub");
  }

  /** The same for small files, of which the hub may state git's digest alone. */
  async bringTexts(files: ReadonlyMap<string, RepositoryFile>): Promise<void> {
    const large: PackageFile[] = [];
    for (const [name, file] of files) {
      if (file.sha256 === undefined) await this.#bringText(name, file);
      else large.push(largeFile(name, file));
    }
    await this.bring(large);
  }

  /** Writes the manifest, which makes the package complete. @returns its files */
  async finish(manifest: Manifest): Promise<PulledFiles> {
    await this.#writeManifest(manifest);
    return Promise.all(
      [...this.#sources].map(async ([name, source]) => {
        const { size } = await stat(path.join(this.#folder, name));
        return { name, bytes: size, source };
      }),
    );
  }

  /** Removes the files that were brought. Those that were there stay. */
  async discard(): Promise<void> {
    for (const [name, source] of this.#sources)
      if (source !== "present") await rm(path.join(this.#folder, name), { force: true });
    await rm(this.#partials, { recursive: true, force: true });
  }

  async #bringText(name: string, { path: remote, gitId }: RepositoryFile): Promise<void> {
    const isRight = (content: Buffer | undefined): content is Buffer =>
      content !== undefined && gitIdOf(content) === gitId;
    const places: readonly [FileSource, string][] = [
      ["present", path.join(this.#folder, name)],
      ["cache", path.join(this.#snapshot(), remote)],
    ];
    for (const [source, file] of places) {
      const content = await readFile(file).catch(() => undefined);
      if (!isRight(content)) continue;
      if (source === "cache") await this.#write(name, content);
      this.#sources.set(name, source);
      return;
    }
    await this.#markIncomplete();
    checkOnline(this.#options, `${name} of ${this.#origin.repository}`);
    const client = new HubClient(this.#options.settings, this.#options.signal);
    try {
      const file: HubFile = { ...this.#origin, name: remote };
      const content = await new Retries(this.#options).until(name, () => client.read(file));
      if (!isRight(content)) throw failed(`${name} was received with another content than the hub states.`);
      await this.#write(name, content);
      this.#sources.set(name, "hub");
    } finally {
      await client.close();
    }
  }

  async #write(name: string, content: Uint8Array): Promise<void> {
    const partial = this.#partial(`${name}.text`);
    await writeFile(partial, content, { flush: true });
    await this.#settle(partial, name);
  }

  /** If a file is wrong or missing, the folder must not look complete. */
  async #markIncomplete(): Promise<void> {
    await rm(path.join(this.#folder, "manifest.json"), { force: true });
  }

  /** Folder of the commit in the cache of the hub's own tools. */
  #snapshot(): string {
    const { repository, revision } = this.#origin;
    const model = `models--${repository.replace("/", "--")}`;
    return path.join(this.#options.settings.cache, model, "snapshots", revision);
  }

  async #findLocally({ name, path: remote, sha256 }: PackageFile): Promise<FileSource | undefined> {
    const present = await rightBytes(this.#folder, name, sha256, this.#options.signal);
    if (present !== undefined) return "present";
    const copy = this.#partial(`${name}.copy`);
    if (!(await copyCached({ snapshot: this.#snapshot(), name: remote, sha256 }, copy, this.#options)))
      return undefined;
    await this.#settle(copy, name);
    return "cache";
  }

  async #fetch(files: readonly PackageFile[]): Promise<void> {
    const { settings, signal } = this.#options;
    const { repository, revision } = this.#origin;
    checkOnline(this.#options, `${files.map(({ name }) => name).join(", ")} of ${repository}@${revision}`);
    const client = new HubClient(settings, signal);
    try {
      const wanted: Wanted[] = [];
      for (const file of files) wanted.push(await this.#ask(client, file));
      await this.#checkSpace(wanted);
      await this.#downloadAll(client, files, wanted);
    } finally {
      await client.close();
    }
  }

  /** Checks the hub's metadata of a file against the pinned digest. */
  async #ask(client: HubClient, { name, path: remote, sha256, maxBytes }: PackageFile): Promise<Wanted> {
    const { repository, revision } = this.#origin;
    const file: HubFile = { repository, revision, name: remote };
    const facts = await new Retries(this.#options).until(name, () => client.facts(file));
    if (facts.sha256 !== undefined && facts.sha256 !== sha256)
      throw failed(`${name} has the SHA-256 ${facts.sha256} at the hub, expected ${sha256}.`);
    if ((facts.bytes ?? 0) > maxBytes)
      throw failed(`${name} has ${facts.bytes} bytes at the hub; the maximum is ${maxBytes}.`);
    return { file, sha256, bytes: facts.bytes, maxBytes, partial: this.#partial(name) };
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

  async #downloadAll(
    client: HubClient,
    files: readonly PackageFile[],
    wanted: readonly Wanted[],
  ): Promise<void> {
    const isSized = wanted.every(({ bytes }) => bytes !== undefined);
    const totalBytes = isSized ? wanted.reduce((sum, { bytes = 0 }) => sum + bytes, 0) : undefined;
    let before = 0;
    for (const [at, each] of wanted.entries()) {
      const name = files[at]?.name ?? each.file.name;
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

  async #writeManifest(manifest: Manifest): Promise<void> {
    const file = path.join(this.#folder, "manifest.json");
    const text = manifestText(manifest);
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
}

/** @throws ServiceError PULL_FAILED if the hub states no SHA-256 */
export function largeFile(name: string, { path, bytes, sha256 }: RepositoryFile): PackageFile {
  if (sha256 !== undefined) return { name, path, sha256, maxBytes: Math.min(bytes, MAX_GRAPH_BYTES) };
  throw failed(`the hub states no SHA-256 of ${path}, as it does of large files.`);
}

/** Folder of incomplete files. */
const partialsOf = (folder: string) => `${folder}.partial`;

/** @throws ServiceError PULL_FAILED if connections are forbidden */
export function checkOnline({ offlineBy, settings }: PullOptions, what: string): void {
  const forbidden = offlineBy ?? settings.offlineBy;
  if (forbidden === undefined) return;
  throw failed(`${what} are not on this machine, and ${forbidden} forbids downloads.`);
}

/** Git's id of a content. @see https://git-scm.com/book/en/v2/Git-Internals-Git-Objects */
const gitIdOf = (content: Uint8Array) =>
  createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");

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
