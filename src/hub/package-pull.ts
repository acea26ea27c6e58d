import { randomUUID } from "node:crypto";
import { open, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../errors.ts";
import type { Manifest } from "../models/package/manifest.ts";
import { openManifest, readManifestText } from "../models/package/package.ts";
import { makeFolder } from "../models/package/package-file.ts";
import { HubClient, type HubRevision } from "./client.ts";
import { download, type PackageFile } from "./download.ts";
import { diskError, failed } from "./failures.ts";
import { copyCached, isPresent } from "./local-files.ts";
import type { Patience } from "./patience.ts";
import type { HubSettings } from "./settings.ts";

export interface PullOptions extends Patience {
  readonly store: string;
  readonly settings: HubSettings;
  /** Flag or variable that forbids connections, if any. */
  readonly offlineBy?: string | undefined;
  readonly onProgress: (progress: PullProgress) => void;
}

export interface PullProgress {
  readonly file: string;
  /** Bytes of the file that are there. */
  readonly bytes: number;
  /** Undefined if the hub gives no size. */
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

/**
 * Puts the files of a package into its folder. Several pulls of the same package may run at once: every file is written beside its
 * place and renamed once its digest has been checked, and the manifest, which makes the package complete, is written last.
 */
export class PackagePull {
  readonly #origin: HubRevision;
  readonly #folder: string;
  readonly #options: PullOptions;
  readonly #sources = new Map<string, FileSource>();

  constructor(origin: HubRevision, folder: string, options: PullOptions) {
    this.#origin = origin;
    this.#folder = folder;
    this.#options = options;
  }

  /** Brings files from wherever they are. Writes nothing if all are there. @throws ServiceError PULL_FAILED; the signal's reason */
  async bring(files: readonly PackageFile[]): Promise<void> {
    await this.#onDisk(async () => {
      // asked first: another pull may complete the package at any time
      const looksComplete = await isThere(this.#manifest);
      const missing: PackageFile[] = [];
      for (const file of files) {
        if (await isPresent(this.#folder, file.name, file, this.#options.signal))
          this.#sources.set(file.name, "present");
        else missing.push(file);
      }
      if (missing.length === 0) return;
      if (looksComplete) await rm(this.#manifest, { force: true });
      const uncached: PackageFile[] = [];
      for (const file of missing) {
        if (await copyCached(this.#snapshot(), file, this.#path(file.name), this.#options))
          this.#sources.set(file.name, "cache");
        else uncached.push(file);
      }
      if (uncached.length > 0) await this.#fetch(uncached);
    });
  }

  /** Writes the manifest, which makes the package complete. @returns its files */
  async finish(manifest: Manifest): Promise<PulledFiles> {
    await this.#onDisk(() => this.#writeManifest(`${JSON.stringify(manifest, null, 2)}\n`));
    return Promise.all(
      [...this.#sources].map(async ([name, source]) => {
        const { size } = await stat(this.#path(name));
        return { name, bytes: size, source };
      }),
    );
  }

  /** Removes the files that were brought. Those that were there stay. */
  async discard(): Promise<void> {
    for (const [name, source] of this.#sources)
      if (source !== "present") await rm(this.#path(name), { force: true });
    for (const empty of [this.#folder, path.dirname(this.#folder)]) await rmdir(empty).catch(() => {});
  }

  /** Folder of the commit in the cache of the hub's own tools. */
  #snapshot(): string {
    const { repository, revision } = this.#origin;
    const model = `models--${repository.replace("/", "--")}`;
    return path.join(this.#options.settings.cache, model, "snapshots", revision);
  }

  async #fetch(files: readonly PackageFile[]): Promise<void> {
    const { settings, signal, onProgress } = this.#options;
    const { repository, revision } = this.#origin;
    checkOnline(this.#options, `${files.map(({ name }) => name).join(", ")} of ${repository}@${revision}`);
    await makeFolder(this.#folder);
    const client = new HubClient(settings, signal);
    try {
      for (const file of files) {
        const { name } = file;
        const onBytes = (bytes: number, totalBytes: number | undefined) =>
          onProgress({ file: name, bytes, totalBytes });
        await download(file, this.#path(name), { ...this.#options, client, origin: this.#origin, onBytes });
        this.#sources.set(name, "hub");
      }
    } finally {
      await client.close();
    }
  }

  async #writeManifest(text: string): Promise<void> {
    if ((await readManifestText(this.#folder).catch(() => "")) === text) return;
    await syncFolder(this.#folder); // the files first, then the manifest that lists them
    const fresh = `${this.#manifest}.${randomUUID()}`;
    await writeFile(fresh, text, { flush: true });
    await rename(fresh, this.#manifest);
    await syncFolder(this.#folder);
    await openManifest(this.#folder);
  }

  get #manifest(): string {
    return this.#path("manifest.json");
  }

  #path(name: string): string {
    return path.join(this.#folder, name);
  }

  /** Turns errors of the file system into PULL_FAILED. */
  async #onDisk(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      const isOfFiles = error instanceof Error && "syscall" in error && codeOf(error) !== undefined;
      throw isOfFiles ? diskError(error, this.#folder) : error;
    }
  }
}

/** @throws ServiceError PULL_FAILED if connections are forbidden */
export function checkOnline({ offlineBy, settings }: PullOptions, what: string): void {
  const forbidden = offlineBy ?? settings.offlineBy;
  if (forbidden === undefined) return;
  throw failed(`${what} are not on this machine, and ${forbidden} forbids downloads.`);
}

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

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
