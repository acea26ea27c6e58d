import { readFile, stat } from "node:fs/promises";
import { Args } from "@oclif/core";
import { durationText } from "../../../batch/progress-text.ts";
import { fileFault, invalidOption } from "../../../errors.ts";
import { homeFolder } from "../../../home.ts";
import type { ChosenFiles } from "../../../hub/file-choice.ts";
import { ATTEMPTS, waitFor } from "../../../hub/patience.ts";
import {
  type PulledModel,
  type PullOptions,
  type PullProgress,
  pullModel,
  pullRepository,
} from "../../../hub/pull.ts";
import { type Repository, type RepositoryName, readRepositoryName } from "../../../hub/repository.ts";
import { readHubSettings } from "../../../hub/settings.ts";
import { checkGraph, openTokenizer } from "../../../models/architectures/architectures.ts";
import { factsOf } from "../../../models/architectures/own-graph.ts";
import { recognizeFolder } from "../../../models/architectures/pair-classifier/folder.ts";
import { describeFolder } from "../../../models/inspect/package-import.ts";
import { namesIn } from "../../../models/package/folder-files.ts";
import { readManifest } from "../../../models/package/manifest.ts";
import { MAX_MANIFEST_BYTES } from "../../../models/package/package-file.ts";
import type { PublishedModel } from "../../../models/store/catalogue.ts";
import { findModel, knownModels, publishedModel, shortName } from "../../../models/store/store.ts";
import { modelShelves } from "../../../served-model.ts";
import { utf8Text } from "../../../utf8.ts";
import { BaseCommand } from "../../base-command.ts";
import { type ClassifierWishes, classifierFlags, readClassifierFlags } from "../../classifier-flags.ts";
import { optionFlags } from "../../option-flags.ts";
import { bytesText } from "../../output/model-text.ts";
import { plainLine } from "../../output/plain-text.ts";
import { type ProgressStream, terminalProgress } from "../../output/progress.ts";
import { stopOnSignals } from "../../stop.ts";

export default class ModelPull extends BaseCommand {
  static override summary = "Fetch a model. It can be served offline from then on.";
  static override description =
    "Fetches a published model, or a zero-shot classifier or reranker of any repository that has it in ONNX. Checks every file\n" +
    "against the digest that is pinned or that the hub states, and pins commit and digests. An interrupted pull is resumed.\n" +
    "Files in the cache of the hub's own tools are copied from there.\n" +
    "Environment: HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT,\n" +
    "HTTP_PROXY, HTTPS_PROXY, NO_PROXY. docs/models.md explains them.";
  static override examples = [
    "<%= config.bin %> model pull gemmadecision",
    "HF_TOKEN=... <%= config.bin %> model pull gemmadecision",
    "<%= config.bin %> model pull ./manifest.json",
    "<%= config.bin %> model pull onnx-community/deberta-v3-base-zeroshot-v2.0-ONNX",
    "<%= config.bin %> model pull acme/Classifier@0123456789abcdef0123456789abcdef01234567 --file onnx/model_quantized.onnx",
  ];
  static override args = {
    model: Args.string({
      required: true,
      description: "a published model, <namespace>/<name>[@<commit>], or a manifest.json with an origin",
    }),
  };
  static override flags = {
    ...optionFlags(["offline"]),
    ...classifierFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelPull);
    const given: Record<string, unknown> = flags;
    const { offline } = await this.options({ offline: given.offline });
    const offlineBy = !offline ? undefined : given.offline ? "--offline" : "DECISION_OFFLINE";
    this.log(await pull(args.model, { offlineBy, isJson: flags.json, wishes: readClassifierFlags(flags) }));
  }
}

/** Maximum size of a file of a model that is given by a manifest. */
const MAX_FILE_BYTES = 2 ** 34;

interface PullCommand {
  /** Flag or variable that forbids connections, if any. */
  readonly offlineBy: string | undefined;
  readonly isJson: boolean;
  readonly wishes?: ClassifierWishes;
  /** For notes and progress. Default: standard error. */
  readonly stream?: ProgressStream;
}

/**
 * `decision model pull`: fetches a model. A signal ends the pull, and the next pull resumes it.
 *
 * @param nameOrFile a name, a repository, or a manifest with an origin
 * @returns the text to print
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | PULL_FAILED | CANCELLED
 */
export async function pull(nameOrFile: string, command: PullCommand): Promise<string> {
  const { isJson, wishes = {} } = command;
  const shelves = modelShelves();
  const model = nameOrFile.endsWith(".json") ? await manifestModel(nameOrFile) : publishedModel(nameOrFile);
  const hasWishes = Object.values(wishes).some((wish) => wish !== undefined);
  if (model !== undefined && hasWishes)
    throw invalidOption(
      "--file, --labels and --hypothesis are for classifiers and rerankers of other repositories.",
    );
  if (model !== undefined)
    return pulling(command, async (options) => {
      const pulled = await pullModel(model, options);
      return isJson
        ? JSON.stringify(pulled, null, 2)
        : pulledText(pulled, shortName(model.manifest), model.terms);
    });
  const name = readRepositoryName(nameOrFile);
  const isStored = (await knownModels(shelves)).some(
    ({ manifest, source }) => source !== "published" && manifest.id === nameOrFile,
  );
  if (name === undefined || (isStored && !hasWishes))
    return already((await findModel(nameOrFile, shelves)).manifest.id, isJson);
  return pulling(command, (options) => pullOther(name, wishes, options, isJson));
}

/** A classifier or reranker of any repository. */
async function pullOther(
  name: RepositoryName,
  { file, labels, hypothesis }: ClassifierWishes,
  options: PullOptions,
  isJson: boolean,
): Promise<string> {
  const wish = { labels, hypothesis };
  let license: string | undefined;
  const pulled = await pullRepository(
    {
      name,
      file,
      onChosen: (repository, chosen) => {
        license = repository.license;
        options.note(chosenText(repository, chosen));
      },
      examine: async (folder) => void (await recognizeFolder(folder, await namesIn(folder), labels)),
      externalFiles: async (graph) => factsOf(await readFile(graph), "model.onnx").externalFiles,
      describe: async (folder, { repository, revision, changedOn }) => {
        const manifest = await describeFolder(folder, {
          wish,
          aliases: [],
          version: revision.slice(0, 7),
          releaseDate: changedOn ?? new Date().toISOString().slice(0, 10),
          origin: { repository, revision },
        });
        await checkGraph({ folder, manifest });
        await openTokenizer({ folder, manifest });
        return manifest;
      },
    },
    options,
  );
  if (isJson) return JSON.stringify({ ...pulled, license: license ?? null }, null, 2);
  const [repository = ""] = pulled.id.split("@");
  return pulledText(pulled, repository, license);
}

function chosenText(
  { repository, revision, license }: Repository,
  { descriptions, graph, otherGraphs }: ChosenFiles,
): string {
  const files = [...descriptions.values(), graph].map(({ path, bytes }) => `${path} (${bytesText(bytes)})`);
  const others = otherGraphs.map(({ path, bytes }) => `${path} (${bytesText(bytes)})`);
  return [
    `${repository}@${revision}, license ${license ?? "not stated"}: ${files.join(", ")}`,
    ...(others.length === 0 ? [] : [`other graphs, for --file: ${others.join(", ")}`]),
  ]
    .map(plainLine)
    .join("\n");
}

/** Runs a pull with progress on the terminal, until it ends or a signal arrives. */
async function pulling(
  { offlineBy, stream = process.stderr }: PullCommand,
  work: (options: PullOptions) => Promise<string>,
): Promise<string> {
  const settings = await readHubSettings(process.env, homeFolder());
  const progress = createProgress(stream);
  const stop = stopOnSignals(". The next pull resumes here.");
  try {
    return await work({
      store: modelShelves().store,
      settings,
      offlineBy,
      onProgress: progress.show,
      attempts: ATTEMPTS,
      wait: waitFor,
      note: progress.note,
      signal: stop.signal,
    });
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    throw error;
  } finally {
    progress.clear();
    stop.dispose();
  }
}

function already(id: string, isJson: boolean): string {
  return isJson
    ? JSON.stringify({ id, folder: null, files: [] }, null, 2)
    : `${id} is already on this machine`;
}

/**
 * The model of a manifest file. The manifest pins commit and digests, as the catalogue does.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL
 */
async function manifestModel(file: string): Promise<PublishedModel> {
  const text = await descriptionText(file);
  const manifest = readManifest(text, file);
  const { origin } = manifest;
  if (!origin) throw invalidOption(`${file} has no /origin, which says where its files are published.`);
  if (!manifest.id.endsWith(`@${origin.revision}`))
    throw invalidOption(`${file} has different revisions in /id and /origin.`);
  return { manifest: { ...manifest, origin }, terms: undefined, maxFileBytes: MAX_FILE_BYTES };
}

/** @throws ServiceError INVALID_OPTION if it is not a regular file or too large for a manifest */
async function descriptionText(file: string): Promise<string> {
  try {
    const found = await stat(file); // before reading: a pipe or a device might never end
    if (!found.isFile()) throw new Error("it is not a regular file");
    if (found.size > MAX_MANIFEST_BYTES)
      throw new Error(`it has ${found.size} bytes, more than the ${MAX_MANIFEST_BYTES} of a manifest`);
    return utf8Text(await readFile(file), (fault) => new Error(`it ${fault}`));
  } catch (cause) {
    throw invalidOption(`${file} cannot be read: ${fileFault(cause)}.`);
  }
}

function pulledText({ id, folder, files }: PulledModel, name: string, terms: string | undefined): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const count = (source: string) => files.filter((file) => file.source === source).length;
  const parts = [
    [count("hub"), "fetched"],
    [count("cache"), "copied from the hub's cache"],
    [count("present"), "already present"],
  ].flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`]));
  return [
    `${id}: ${files.length} files, ${bytesText(bytes)} (${parts.join(", ")}), all checked against their pinned SHA-256`,
    `in ${folder}`,
    ...(terms === undefined ? [] : [`license: ${terms}`]),
    `serve it: decision serve --model ${name}`,
  ].join("\n");
}

/** Progress as one line on a terminal; only notes elsewhere. */
function createProgress(stream: ProgressStream) {
  const { show, clear } = terminalProgress(stream);
  let begun = { file: "", bytes: 0, at: 0 };
  let lastAt = 0;
  return {
    show(progress: PullProgress) {
      const now = performance.now();
      const { file, bytes } = progress;
      if (file !== begun.file) begun = { file, bytes, at: now };
      const isLast = bytes === progress.totalBytes;
      if (now - lastAt < 100 && !isLast) return; // at most ten updates per second
      lastAt = now;
      show(transferText(progress, bytes - begun.bytes, now - begun.at));
    },
    note(text: string) {
      clear();
      stream.write(`decision model pull: ${text}\n`);
    },
    clear,
  };
}

/** No rate is shown before this time. Chosen: a rate over less time jumps. */
const SETTLED_MS = 1_000;

/**
 * The progress of a pull in one line.
 *
 * @param fetched bytes fetched by this pull
 * @param ms time since its start
 */
function transferText({ file, bytes, totalBytes }: PullProgress, fetched: number, ms: number): string {
  const parts = [file];
  if (totalBytes === undefined) parts.push(bytesText(bytes));
  else {
    const percent = Math.floor((100 * bytes) / Math.max(1, totalBytes));
    parts.push(`${percent} %`, `${bytesText(bytes)} of ${bytesText(totalBytes)}`);
  }
  const perSecond = (1000 * fetched) / Math.max(1, ms);
  if (ms >= SETTLED_MS && perSecond >= 1) {
    parts.push(`${bytesText(Math.round(perSecond))}/s`);
    if (totalBytes !== undefined) parts.push(`${durationText((totalBytes - bytes) / perSecond)} left`);
  }
  return parts.join("  ");
}
