import { appendFile, open, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf, digestOf } from "../models/package/package-file.ts";
import { byteCount, type From, type HubClient, type HubFile, type HubReply } from "./client.ts";
import { connectionError, diskError, failed, Interruption } from "./failures.ts";
import { type Patience, Retries } from "./patience.ts";

/** A file that is to be fetched. */
export interface Wanted {
  readonly file: HubFile;
  readonly sha256: string;
  /** As the hub says, if it does. */
  readonly bytes: number | undefined;
  /** More than this is refused, whatever the hub says. */
  readonly maxBytes: number;
  /** Where its bytes are collected; what is there already is gone on from. */
  readonly partial: string;
}

export interface DownloadControl extends Patience {
  readonly client: HubClient;
  /** Told how many bytes are there. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Fetches a file into `partial`, until its size and SHA-256 are right.
 *
 *     nothing ─▶ bytes 0.. ─▶ broken ─▶ bytes n.. (206) ─▶ all there ─▶ SHA-256 right: done
 *                   ▲                        │                            │ wrong, the first time
 *                   ╰── changed (200, 416) ──┴────────────────────────────╯
 *
 * @throws ServiceError PULL_FAILED
 */
export async function download(wanted: Wanted, control: DownloadControl): Promise<void> {
  const { partial, sha256, file } = wanted;
  const retries = new Retries(control);
  let hasBeenWrong = false;
  await appendFile(partial, "").catch((error: unknown) => {
    throw diskError(error, path.dirname(partial));
  });
  for (;;) {
    const bytes = await transferAll(wanted, control, retries);
    const found = await digestOf(partial, control.signal);
    if (found === sha256) return;
    await discard(partial);
    // bytes of an earlier pull may have been of another file, or damaged on this disk
    if (hasBeenWrong) {
      throw failed(
        `${file.name} came twice with other content than was published: ${bytes} bytes with the SHA-256 ${found}, expected ${sha256}. It is not kept.`,
      );
    }
    hasBeenWrong = true;
    control.note(`${file.name} has not the content that was published; fetching it anew`);
  }
}

/** @returns how many bytes there are, all that the server has */
async function transferAll(wanted: Wanted, control: DownloadControl, retries: Retries): Promise<number> {
  let size = wanted.bytes;
  for (;;) {
    const have = await sizeOf(wanted.partial);
    if (size !== undefined && have === size) return have;
    if (size !== undefined && have > size) await discard(wanted.partial);
    try {
      size = (await transfer(wanted, size, control, () => retries.progressed())) ?? size;
      // a server that never says how many there are has given all when it ends
      if (size === undefined) return await sizeOf(wanted.partial);
    } catch (error) {
      control.signal.throwIfAborted();
      if (!(error instanceof Interruption)) throw error;
      await retries.pause(wanted.file.name, error);
    }
  }
}

/** One answer, from where the last one ended. @returns the file's size, if the answer told it */
async function transfer(
  wanted: Wanted,
  size: number | undefined,
  { client, onBytes, signal }: DownloadControl,
  onProgress: () => void,
): Promise<number | undefined> {
  const have = Math.min(await sizeOf(wanted.partial), size ?? Number.POSITIVE_INFINITY);
  const reply = await client.open(wanted.file, await fromWhere(wanted.partial, have));
  const { offset, total } = await beginning(reply, have, size, wanted);
  const most = total ?? wanted.maxBytes;
  if (offset === 0) await startAnew(wanted.partial, reply);
  let at = offset;
  const handle = await open(wanted.partial, "r+").catch((error: unknown) => {
    throw diskError(error, path.dirname(wanted.partial));
  });
  try {
    for await (const chunk of chunksOf(reply, signal)) {
      if (at + chunk.length > most) {
        await discard(wanted.partial);
        throw tooMuch(wanted, total);
      }
      for (let done = 0; done < chunk.length; ) {
        const { bytesWritten } = await handle
          .write(chunk, done, chunk.length - done, at)
          .catch((error: unknown) => {
            throw diskError(error, path.dirname(wanted.partial));
          });
        done += bytesWritten;
        at += bytesWritten;
      }
      onProgress();
      onBytes(at);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (total !== undefined && at < total)
    throw new Interruption(`${reply.host} ended after ${at} of ${total} bytes`);
  return total;
}

/** Where the answer's bytes belong, and how many there are in all. @throws ServiceError PULL_FAILED | Interruption */
async function beginning(
  { status, header, host, drop }: HubReply,
  have: number,
  size: number | undefined,
  { partial, file, maxBytes }: Wanted,
): Promise<{ offset: number; total: number | undefined }> {
  const encoding = header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    drop();
    throw failed(
      `${host} sends ${file.name} in the encoding ${encoding.slice(0, 40)}, which was not asked for.`,
    );
  }
  const range = /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/.exec(header("content-range") ?? "");
  const total = status === 200 ? byteCount(header("content-length")) : byteCount(range?.[2]);
  const isOther = total !== undefined && size !== undefined && total !== size;
  if (status !== 200 && (status === 416 || isOther || byteCount(range?.[1]) !== have)) {
    drop();
    // all of it is there, and nobody knew how much that is
    if (status === 416 && total === have) return { offset: have, total };
    await discard(partial);
    throw new Interruption(`${host} cannot go on with ${file.name} from byte ${have}`);
  }
  if (isOther) {
    drop();
    throw failed(`${file.name} has ${size} bytes as the hub says, but ${host} sends ${total}.`);
  }
  if ((total ?? 0) > maxBytes) {
    drop();
    throw failed(`${file.name} has ${total} bytes, more than the ${maxBytes} that it may have.`);
  }
  return { offset: status === 206 ? have : 0, total: total ?? size };
}

async function* chunksOf(reply: HubReply, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (reply.status === 416) return;
  try {
    yield* reply.body;
  } catch (error) {
    signal.throwIfAborted();
    throw connectionError(error, reply.host, false);
  }
}

function tooMuch({ file, maxBytes }: Wanted, total: number | undefined) {
  const most = total === undefined ? `${maxBytes} that it may have` : `${total} that were announced`;
  return failed(`${file.name} has more bytes than the ${most}.`);
}

/** Beside the bytes: the tag that they came with. It says whether a server still has the same content. */
const tagFile = (partial: string) => `${partial}.tag`;

async function fromWhere(partial: string, offset: number): Promise<From> {
  if (offset === 0) return { offset };
  const text = await readFile(tagFile(partial), "utf8").catch(() => "");
  const [host, etag] = text.split("\n");
  return host && etag ? { offset, tag: { host, etag } } : { offset };
}

async function startAnew(partial: string, { host, header }: HubReply): Promise<void> {
  const etag = header("etag") ?? "";
  // a weak tag cannot say that bytes are the same. RFC 9110, 13.1.5
  const tag = /^"[\x21\x23-\x7e]{1,1000}"$/.test(etag) ? `${host}\n${etag}` : "";
  try {
    await writeFile(tagFile(partial), tag);
    await writeFile(partial, "");
  } catch (error) {
    throw diskError(error, path.dirname(partial));
  }
}

async function discard(partial: string): Promise<void> {
  try {
    await rm(tagFile(partial), { force: true });
    await truncate(partial, 0);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw diskError(error, path.dirname(partial));
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw diskError(error, path.dirname(file));
  }
}
