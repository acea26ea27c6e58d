import path from "node:path";
import { ServiceError } from "../errors.ts";
import type { Manifest } from "../models/package/manifest.ts";
import type { PublishedModel } from "../models/store/catalogue.ts";
import { packageFolder } from "../models/store/store.ts";
import { HubClient } from "./client.ts";
import type { PackageFile } from "./download.ts";
import { baseName, type ChosenFiles, chooseFiles, externalFilesOf } from "./file-choice.ts";
import { checkOnline, PackagePull, type PulledFiles, type PullOptions } from "./package-pull.ts";
import { Retries } from "./patience.ts";
import { type Repository, type RepositoryFile, type RepositoryName, readRepository } from "./repository.ts";

export type { PullOptions, PullProgress } from "./package-pull.ts";

export interface PulledModel {
  readonly id: string;
  readonly folder: string;
  readonly files: PulledFiles;
}

/**
 * Fetches a published model: every file of its pinned commit, checked against its pinned digest. A file gets its name
 * after the check, and the manifest is written last. Existing files are not fetched again. If the package is complete,
 * nothing is written.
 *
 * @throws ServiceError PULL_FAILED; the signal's reason
 */
export async function pullModel(model: PublishedModel, options: PullOptions): Promise<PulledModel> {
  const { manifest, maxFileBytes } = model;
  const folder = packageFolder(options.store, manifest.id);
  const pull = new PackagePull(manifest.origin, folder, options);
  const files = Object.entries(manifest.files);
  await pull.bring(files.map(([name, sha256]) => ({ name, path: name, sha256, maxBytes: maxFileBytes })));
  return { id: manifest.id, folder, files: await pull.finish(manifest) };
}

/** A model of any repository: how its package is made of its files. */
export interface RepositoryWish {
  readonly name: RepositoryName;
  /** Path of the graph, if the user names one. */
  readonly file?: string | undefined;
  /** Called before anything is fetched. */
  readonly onChosen: (repository: Repository, chosen: ChosenFiles) => void;
  /** Refuses a model by its small files, before the graph is fetched. @throws ServiceError */
  readonly examine: (folder: string) => Promise<void>;
  /** Names of the files that the graph refers to. @throws ServiceError */
  readonly externalFiles: (graph: string) => Promise<readonly string[]>;
  /** The manifest of the folder's files. @throws ServiceError */
  readonly describe: (folder: string, repository: Repository) => Promise<Manifest>;
}

/** Name of the graph in a package, whatever it is called in its repository. */
const GRAPH = "model.onnx";
/** Maximum size of a graph and its data: larger ones would not answer in time on processors. */
const MAX_GRAPH_BYTES = 2 ** 34;

/**
 * Fetches a model of any repository. Its branch is resolved to a commit once, and every file is checked against the digest that
 * the hub states; from then on the manifest pins them.
 *
 * @throws ServiceError PULL_FAILED | INVALID_MODEL for a model that cannot be served; the signal's reason
 */
export async function pullRepository(wish: RepositoryWish, options: PullOptions): Promise<PulledModel> {
  const repository = await describeRepository(wish.name, options);
  const chosen = chooseFiles(repository, wish.file);
  wish.onChosen(repository, chosen);
  const id = `${repository.repository}@${repository.revision}`;
  const folder = packageFolder(options.store, id);
  const pull = new PackagePull(repository, folder, options);
  try {
    await pull.bring([...chosen.descriptions].map(([name, file]) => packageFile(name, file)));
    await wish.examine(folder);
    await pull.bring([packageFile(GRAPH, chosen.graph)]);
    const others = await wish.externalFiles(path.join(folder, GRAPH));
    const data = externalFilesOf(repository, chosen.graph, others);
    await pull.bring(data.map((file) => packageFile(baseName(file.path), file)));
    return { id, folder, files: await pull.finish(await wish.describe(folder, repository)) };
  } catch (error) {
    // what cannot be served is of no use to the next pull
    if (error instanceof ServiceError && error.kind === "INVALID_MODEL") await pull.discard();
    throw error;
  }
}

/** A file of a repository, under its name in the package. */
function packageFile(name: string, { path, bytes, sha256, gitId }: RepositoryFile): PackageFile {
  return { name, path, sha256, gitId, maxBytes: Math.min(bytes, MAX_GRAPH_BYTES) };
}

async function describeRepository(name: RepositoryName, options: PullOptions): Promise<Repository> {
  checkOnline(options, `the list of files of ${name.repository}`);
  const client = new HubClient(options.settings, options.signal);
  try {
    const revision = name.revision ?? "main";
    const described = await new Retries(options).until(name.repository, () =>
      client.describe({ repository: name.repository, revision }),
    );
    return readRepository(described, name);
  } finally {
    await client.close();
  }
}
