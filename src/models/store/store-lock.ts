import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, makeFolder } from "../package/package-file.ts";

/** Who holds a lock. */
interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

export interface LockPace {
  /** How often the owner says that it is alive. */
  readonly beatMs: number;
  /** A lock without a sign of life for so long is nobody's. */
  readonly staleMs: number;
  /** How often who waits looks again. */
  readonly pollMs: number;
}

/** Whose lock was seen, with which sign of life, and when it was first seen so. */
interface Sighting {
  readonly owner: Owner;
  readonly beat: number;
  readonly at: number;
}

const PACE: LockPace = { beatMs: 5_000, staleMs: 30_000, pollMs: 250 };

export interface StoreLock {
  /** Aborts when another process has taken the lock, because this one was held for dead. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Takes a lock file, or waits until its owner is done. A lock whose owner has died is taken over: at once where its process was of
 * this machine, else when it has given no sign of life for `staleMs`. There is no lock of the system that works over network file
 * systems and in containers alike.
 *
 * @param onWait told once, who is waited for
 * @param waitsForRelease whether it waits until a living owner is done, or only for a sign that the owner lives: within `beatMs`, or
 *        else within `staleMs` the lock is nobody's
 * @returns nothing when it does not wait for the release, and the owner lives
 * @throws the system's error, or the signal's reason
 */
export async function takeLock(
  file: string,
  options: {
    readonly signal: AbortSignal;
    readonly onWait?: ((owner: string) => void) | undefined;
    readonly waitsForRelease?: boolean;
    readonly pace?: LockPace;
  },
): Promise<StoreLock | undefined> {
  const { signal, onWait, waitsForRelease = true, pace = PACE } = options;
  const own: Owner = { id: randomUUID(), host: hostname(), pid: process.pid };
  let hasTold = false;
  let seen: Sighting | undefined;
  for (;;) {
    signal.throwIfAborted();
    if (await create(file, own)) return hold(file, own, pace);
    const found = await look(file, seen);
    if (found !== undefined && isNobodys(found, pace)) {
      await breakLock(file, found.owner);
    } else if (found !== undefined) {
      const livesOn = seen !== undefined && found !== seen;
      if (livesOn && !waitsForRelease) return undefined;
      if (!hasTold) onWait?.(`process ${found.owner.pid} on ${found.owner.host}`);
      hasTold = true;
      seen = found;
    }
    await sleep(pace.pollMs, undefined, { signal });
  }
}

/** @returns what was seen before where nothing has changed; nothing where the lock was released just now */
async function look(file: string, before: Sighting | undefined): Promise<Sighting | undefined> {
  const owner = await ownerOf(file);
  const beat = await beatOf(file);
  if (owner === undefined || beat === undefined) return undefined;
  if (owner.id === before?.owner.id && beat === before.beat) return before;
  // by this process's own clock: that of a file server may differ
  return { owner, beat, at: performance.now() };
}

async function create(file: string, own: Owner): Promise<boolean> {
  await makeFolder(path.dirname(file));
  try {
    const handle = await open(file, "wx");
    try {
      await handle.writeFile(JSON.stringify(own)).finally(() => handle.close());
    } catch (error) {
      await rm(file, { force: true }); // a full disk: a lock without an owner would hold others up
      throw error;
    }
    return true;
  } catch (error) {
    // another owner has removed the empty folder since: the next attempt makes it again
    if (codeOf(error) === "EEXIST" || codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function hold(file: string, own: Owner, { beatMs }: LockPace): StoreLock {
  const lost = new AbortController();
  const beat = async () => {
    if ((await ownerOf(file))?.id !== own.id) return lost.abort();
    const now = new Date();
    await utimes(file, now, now);
  };
  const timer = setInterval(() => void beat().catch(() => {}), beatMs);
  timer.unref();
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer);
      if ((await ownerOf(file))?.id === own.id) await rm(file, { force: true });
    },
  };
}

/**
 * Takes a dead owner's lock away. Of several that try, one gets it; a lock taken by mistake is put back, and where that cannot be its
 * owner finds it gone at the next beat.
 */
async function breakLock(file: string, owner: Owner): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  try {
    if ((await ownerOf(aside))?.id !== owner.id) await link(aside, file);
  } catch (error) {
    if (!["EEXIST", "EPERM", "ENOTSUP"].includes(codeOf(error) ?? "")) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

/** @returns nothing where there is no lock; what cannot be read or understood is an owner that nobody knows */
async function ownerOf(file: string): Promise<Owner | undefined> {
  let text = "";
  try {
    text = await readFile(file, "utf8");
    const { id, host, pid } = JSON.parse(text);
    return { id: String(id), host: String(host), pid: Number(pid) };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    return { id: text.slice(0, 100), host: "an unknown machine", pid: 0 };
  }
}

async function beatOf(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

function isNobodys({ owner, at }: Sighting, { staleMs }: LockPace): boolean {
  return isDead(owner) || performance.now() - at > staleMs;
}

function isDead({ host, pid }: Owner): boolean {
  if (host !== hostname() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}
