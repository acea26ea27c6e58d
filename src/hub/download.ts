import { appendFile, open, stat, truncate } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../errors.ts";
import { digestOf } from "../models/package/package-file.ts";
import { byteCount, type HubClient, type HubFile, type HubReply } from "./client.ts";
import { connectionError, diskError, failed, Interruption } from "./failures.ts";
import { type Patience, Retries } from "./patience.ts";

/** A file to fetch. */
export interface Wanted {
  readonly file: HubFile;
  readonly sha256: string;
  /** Size according to the hub, if known. */
  readonly bytes: number | undefined;
  /** Maximum size, whatever the hub says. */
  readonly maxBytes: number;
  /** Target of the bytes. Existing bytes are continued. */
  readonly partial: string;
}

export interface DownloadControl extends Patience {
  readonly client: HubClient;
  /** Called with the number of bytes received. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Fetches a file into `partial` until size and SHA-256 match.
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
    // bytes of an earlier pull may belong to another file or be damaged
    if (hasBeenWrong) {
      throw failed(
        `${file.name} was received twice with the wrong content: ${bytes} bytes with the SHA-256 ${found}, expected ${sha256}. It was discarded.`,
      );
    }
    hasBeenWrong = true;
    control.note(`${file.name} differs from the published file; fetching it again`);
  }
}

/** @returns the number of bytes, when the server has sent all */
async function transferAll(wanted: Wanted, control: DownloadControl, retries: Retries): Promise<number> {
  let size = wanted.bytes;
  for (;;) {
    const have = await sizeOf(wanted.partial);
    if (size !== undefined && have === size) return have;
    if (size !== undefined && have > size) await discard(wanted.partial);
    try {
      size = (await transfer(wanted, size, control, () => retries.progressed())) ?? size;
      // a server that never gave a size has sent everything when it ends
      if (size === undefined) return await sizeOf(wanted.partial);
    } catch (error) {
      control.signal.throwIfAborted();
      if (!(error instanceof Interruption)) throw error;
      await retries.pause(wanted.file.name, error);
    }
  }
}

/** One answer, continuing the last one. @returns the file's size, if the answer gives it */
async function transfer(
  wanted: Wanted,
  size: number | undefined,
  { client, onBytes, signal }: DownloadControl,
  onProgress: () => void,
): Promise<number | undefined> {
  const have = Math.min(await sizeOf(wanted.partial), size ?? Number.POSITIVE_INFINITY);
  const reply = await client.open(wanted.file, have);
  const { offset, total } = await beginning(reply, have, size, wanted);
  const most = total ?? wanted.maxBytes;
  if (offset === 0) await discard(wanted.partial);
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

/** Offset of the answer's bytes, and the total size. @throws ServiceError PULL_FAILED | Interruption */
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
      `${host} sends ${file.name} with the encoding ${encoding.slice(0, 40)}, which was not requested.`,
    );
  }
  const range = /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/.exec(header("content-range") ?? "");
  const total = status === 200 ? byteCount(header("content-length")) : byteCount(range?.[2]);
  const isOther = total !== undefined && size !== undefined && total !== size;
  if (status !== 200 && (status === 416 || isOther || byteCount(range?.[1]) !== have)) {
    drop();
    // everything was received, and the size was unknown
    if (status === 416 && total === have) return { offset: have, total };
    await discard(partial);
    throw new Interruption(`${host} cannot resume ${file.name} at byte ${have}`);
  }
  if (isOther) {
    drop();
    throw failed(`${file.name} has ${size} bytes according to the hub, but ${host} sends ${total}.`);
  }
  if ((total ?? 0) > maxBytes) {
    drop();
    throw failed(`${file.name} has ${total} bytes; the maximum is ${maxBytes}.`);
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
  const most = total === undefined ? `allowed ${maxBytes}` : `announced ${total}`;
  return failed(`${file.name} has more bytes than the ${most}.`);
}

async function discard(partial: string): Promise<void> {
  try {
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
