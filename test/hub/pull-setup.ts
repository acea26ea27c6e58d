import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type PulledModel, type PullOptions, type PullProgress, pullModel } from "../../src/hub/pull.ts";
import { readHubSettings } from "../../src/hub/settings.ts";
import type { PublishedModel } from "../../src/models/store/catalogue.ts";
import { packageFolder } from "../../src/models/store/store.ts";
import { HubServer } from "./hub-server.ts";
import { LARGE, tinyFiles, tinyModel } from "./tiny-model.ts";

/** A hub with one small model, a store and a home of its own, and what a pull has told. */
export class PullSetup {
  readonly home: string;
  readonly hub: HubServer;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly model: PublishedModel;
  readonly notes: string[] = [];
  /** Milliseconds that pulls have waited for; they did not. */
  readonly waits: number[] = [];
  readonly progress: PullProgress[] = [];

  private constructor(home: string, hub: HubServer, files: ReadonlyMap<string, Buffer>) {
    this.home = home;
    this.hub = hub;
    this.files = files;
    this.model = tinyModel(files);
  }

  static async create(weightBytes?: number): Promise<PullSetup> {
    const files = tinyFiles(weightBytes);
    const home = await mkdtemp(path.join(tmpdir(), "pull-"));
    return new PullSetup(home, await HubServer.start(files, LARGE), files);
  }

  get store(): string {
    return path.join(this.home, "store");
  }

  get folder(): string {
    return packageFolder(this.store, this.model.manifest.id);
  }

  async pull(
    env: Readonly<Record<string, string>> = {},
    options: Partial<PullOptions> = {},
    model: PublishedModel = this.model,
  ): Promise<PulledModel> {
    const settings = await readHubSettings({ HF_ENDPOINT: this.hub.endpoint, ...env }, this.home);
    return pullModel(model, {
      store: this.store,
      settings,
      attempts: 4,
      wait: async (ms, signal) => {
        signal.throwIfAborted();
        this.waits.push(ms);
      },
      note: (text) => this.notes.push(text),
      onProgress: (progress) => this.progress.push(progress),
      signal: new AbortController().signal,
      ...options,
    });
  }

  /** Names and contents of the package's folder, but the manifest. */
  async contents(): Promise<ReadonlyMap<string, Buffer>> {
    const names = (await readdir(this.folder)).filter((name) => name !== "manifest.json").sort();
    return new Map(
      await Promise.all(
        names.map(async (name) => [name, await readFile(path.join(this.folder, name))] as const),
      ),
    );
  }

  async manifest(): Promise<unknown> {
    return JSON.parse(await readFile(path.join(this.folder, "manifest.json"), "utf8"));
  }

  async remove(): Promise<void> {
    await this.hub.stop();
    await rm(this.home, { recursive: true });
  }
}
