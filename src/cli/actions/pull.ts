import { readFile, stat } from "node:fs/promises";
import { fileFault, invalidOption, ServiceError } from "../../errors.ts";
import { homeFolder } from "../../home.ts";
import { ATTEMPTS, waitFor } from "../../hub/patience.ts";
import { type PulledModel, type PullProgress, pullModel } from "../../hub/pull.ts";
import { readHubSettings } from "../../hub/settings.ts";
import { readManifest } from "../../models/package/manifest.ts";
import { MAX_MANIFEST_BYTES } from "../../models/package/package-file.ts";
import type { PublishedModel } from "../../models/store/catalogue.ts";
import { findModel, publishedModel, shortName } from "../../models/store/store.ts";
import { modelShelves } from "../../served-model.ts";
import { utf8Text } from "../../utf8.ts";
import { bytesText } from "../output/model-text.ts";
import { transferText } from "../output/transfer-text.ts";

/** Maximum size of a file of a model that is given by a manifest. */
const MAX_FILE_BYTES = 2 ** 34;

/**
 * `decision model pull`: fetches a model. A signal ends the pull, and the next pull resumes it.
 *
 * @param nameOrFile a name, or a manifest with an origin
 * @returns the text to print
 * @throws ServiceError INVALID_OPTION | PULL_FAILED | CANCELLED
 */
export async function pull(
  nameOrFile: string,
  { offlineBy, isJson }: { readonly offlineBy: string | undefined; readonly isJson: boolean },
): Promise<string> {
  const shelves = modelShelves();
  const model = nameOrFile.endsWith(".json") ? await manifestModel(nameOrFile) : publishedModel(nameOrFile);
  if (model === undefined) return already((await findModel(nameOrFile, shelves)).manifest.id, isJson);
  const settings = await readHubSettings(process.env, homeFolder());
  const progress = createProgress(process.stderr);
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) =>
    stop.abort(new ServiceError("CANCELLED", `stopped by ${signal}. The next pull resumes here.`));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    const pulled = await pullModel(model, {
      store: shelves.store,
      settings,
      offlineBy,
      onProgress: progress.show,
      attempts: ATTEMPTS,
      wait: waitFor,
      note: progress.note,
      signal: stop.signal,
    });
    progress.clear();
    return isJson ? JSON.stringify(pulled, null, 2) : pulledText(pulled, model);
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    throw error;
  } finally {
    progress.clear();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
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

function pulledText({ id, folder, files }: PulledModel, { manifest, terms }: PublishedModel): string {
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
    `serve it: decision serve --model ${shortName(manifest)}`,
  ].join("\n");
}

/** Progress as one line on a terminal; only notes elsewhere. */
function createProgress(stream: NodeJS.WriteStream) {
  const startedAt = performance.now();
  let first: number | undefined;
  let lastAt = 0;
  const clear = () => {
    if (stream.isTTY) stream.write("\r\u001b[K");
  };
  return {
    show(progress: PullProgress) {
      if (!stream.isTTY) return;
      const now = performance.now();
      first ??= progress.bytes;
      const isLast = progress.bytes === progress.totalBytes;
      if (now - lastAt < 100 && !isLast) return; // at most ten updates per second
      lastAt = now;
      const text = transferText(progress, progress.bytes - first, now - startedAt);
      stream.write(`\r\u001b[K${text.slice(0, stream.columns - 1)}`);
    },
    note(text: string) {
      clear();
      stream.write(`decision model pull: ${text}\n`);
    },
    clear,
  };
}
