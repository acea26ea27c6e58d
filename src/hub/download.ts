import { constants, createWriteStream, openSync, statfsSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { codeOf, ServiceError } from "../errors.ts";
import type { HubClient, HubReply, HubRevision } from "./client.ts";
import { connectionError, failed, Interruption } from "./failures.ts";
import { type Digest, hasContent } from "./local-files.ts";
import { type Patience, Retries } from "./patience.ts";

/** A file of a package. */
export interface PackageFile extends Digest {
  readonly name: string;
  /** Path in the repository. */
  readonly path: string;
  /** Maximum size, whatever the hub says. */
  readonly maxBytes: number;
}

export interface DownloadControl extends Patience {
  readonly client: HubClient;
  readonly origin: HubRevision;
  /** Called with the number of bytes received, and the file's size if it is known. */
  readonly onBytes: (bytes: number, totalBytes: number | undefined) => void;
}

/** Bytes that may wait to be written. They are written even if the connection breaks. */
const MOST_WAITING = 2 ** 20;

/**
 * Fetches a file into `<target>.partial` until its digest matches, and gives it its name.
 *
 * Several pulls may write to the same partial file: all write the same bytes to the same places, none shortens the file,
 * and none begins behind its end. So it has no gaps, and the first to complete it renames it.
 *
 * @throws ServiceError PULL_FAILED; the system's error
 */
export async function download(file: PackageFile, target: string, control: DownloadControl): Promise<void> {
  const partial = `${target}.partial`;
  const { name } = file;
  const { signal, note } = control;
  const retries = new Retries(control);
  for (const isLast of [false, true]) {
    await retries.until(name, () => transfer(file, partial, control, () => retries.progressed()));
    if ((await hasContent(partial, file, signal)) && (await isRenamed(partial, target))) return;
    if (await hasContent(target, file, signal)) return; // another pull has renamed it
    await rm(partial, { force: true });
    // what an earlier pull received may be damaged
    if (isLast) throw failed(`${name} was received twice with the wrong content. It was discarded.`);
    note(`${name} differs from the published file; fetching it again`);
  }
}

/** @returns false if there is no partial file any more */
async function isRenamed(partial: string, target: string): Promise<boolean> {
  try {
    await rename(partial, target);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** One answer, continuing what is there. @throws Interruption if it does not complete the file */
async function transfer(
  file: PackageFile,
  partial: string,
  { client, origin, onBytes, signal }: DownloadControl,
  onProgress: () => void,
): Promise<void> {
  const have = await sizeOf(partial);
  const reply = await client.open({ ...origin, name: file.path }, have);
  const { body, host } = reply;
  try {
    const { offset, total } = placeOf(reply, have);
    if (offset === undefined) {
      if (total === have) return; // everything was received before
      await rm(partial, { force: true });
      throw new Interruption(`${host} cannot resume ${file.name} at byte ${have}`);
    }
    checkHead(reply, total, file);
    checkSpace(path.dirname(partial), (total ?? 0) - offset);
    let at = offset;
    body.on("data", (chunk: Buffer) => {
      at += chunk.length;
      if (at > (total ?? file.maxBytes)) body.destroy(tooMuch(file, total));
      onProgress();
      onBytes(at, total);
    });
    await write(body, partial, offset);
    if (total !== undefined && at < total)
      throw new Interruption(`${host} ended after ${at} of ${total} bytes`);
  } catch (error) {
    signal.throwIfAborted();
    const isOfConnection = error === body.errored && !(error instanceof ServiceError);
    throw isOfConnection ? connectionError(error, host, false) : error;
  } finally {
    body.destroy();
  }
}

/** Where the answer's bytes belong, unless it cannot continue at byte `have`; and the file's size, if known. */
function placeOf({ status, header }: HubReply, have: number) {
  const range = /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/.exec(header("content-range") ?? "");
  if (status === 200) return { offset: 0, total: byteCount(header("content-length")) };
  const isNext = status === 206 && byteCount(range?.[1]) === have;
  return { offset: isNext ? have : undefined, total: byteCount(range?.[2]) };
}

/** @throws ServiceError PULL_FAILED for an answer that cannot be the file */
function checkHead(
  { header, host }: HubReply,
  total: number | undefined,
  { name, maxBytes }: PackageFile,
): void {
  const encoding = header("content-encoding") ?? "identity";
  if (encoding !== "identity")
    throw failed(
      `${host} sends ${name} with the encoding ${encoding.slice(0, 40)}, which was not requested.`,
    );
  if ((total ?? 0) > maxBytes) throw failed(`${name} has ${total} bytes; the maximum is ${maxBytes}.`);
}

/** @throws ServiceError PULL_FAILED if the disk has too little space */
function checkSpace(folder: string, needed: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (needed <= free) return;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  throw failed(`the disk of ${folder} has ${megabytes(free)} free; ${megabytes(needed)} are needed.`);
}

/** Writes a body to its place. Of a body that breaks, it writes what was received. @throws the body's or the system's error */
async function write(body: Readable, partial: string, start: number): Promise<void> {
  const fd = openSync(partial, constants.O_WRONLY | constants.O_CREAT);
  const sink = createWriteStream(partial, { fd, start, highWaterMark: MOST_WAITING, flush: true });
  body.once("error", () => sink.end());
  if (body.errored === null) body.pipe(sink);
  else sink.end();
  await finished(sink);
  if (body.errored !== null) throw body.errored;
}

function tooMuch({ name, maxBytes }: PackageFile, total: number | undefined) {
  return failed(
    `${name} has more bytes than the ${total === undefined ? `allowed ${maxBytes}` : `announced ${total}`}.`,
  );
}

function byteCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    (error: unknown) => {
      if (codeOf(error) === "ENOENT") return 0;
      throw error;
    },
  );
}
