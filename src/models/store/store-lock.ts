import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../../errors.ts";
import { makeFolder } from "../package/package-file.ts";

/** The owner of a lock. */
interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

export interface LockPace {
  /** Interval of the owner's heartbeat. */
  readonly beatMs: number;
  /** A lock without a heartbeat for this long is abandoned. */
  readonly staleMs: number;
  /** Polling interval of a waiting process. */
  readonly pollMs: number;
}

/** The last observed lock: owner, heartbeat, and when this heartbeat was first seen. */
interface Sighting {
  readonly owner: Owner;
  readonly beat: number;
  readonly at: number;
}

const PACE: LockPace = { beatMs: 5_000, staleMs: 30_000, pollMs: 250 };

export interface StoreLock {
  /** Aborts when another process takes the lock because this process looked dead. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Acquires a lock file, or waits for its owner. The lock of a dead owner is taken over: at once if its process ran on
 * this machine, otherwise after `staleMs` without a heartbeat. (Locks of the operating system do not work both on
 * network file systems and in containers.)
 *
 * @param onWait called once with the owner
 * @param waitsForRelease whether to wait until a living owner releases the lock, or only until it is known whether the
 *        owner lives (at most `staleMs`)
 * @returns undefined if it does not wait for the release and the owner lives
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

/** @returns the earlier observation if nothing has changed; undefined if the lock was just released */
async function look(file: string, before: Sighting | undefined): Promise<Sighting | undefined> {
  const owner = await ownerOf(file);
  const beat = await beatOf(file);
  if (owner === undefined || beat === undefined) return undefined;
  if (owner.id === before?.owner.id && beat === before.beat) return before;
  // measured by this process's clock, because the file server's may differ
  return { owner, beat, at: performance.now() };
}

async function create(file: string, own: Owner): Promise<boolean> {
  await makeFolder(path.dirname(file));
  try {
    const handle = await open(file, "wx");
    try {
      await handle.writeFile(JSON.stringify(own)).finally(() => handle.close());
    } catch (error) {
      await rm(file, { force: true }); // full disk: a lock without an owner would block others
      throw error;
    }
    return true;
  } catch (error) {
    // another owner has removed the empty folder; the next attempt creates it again
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
 * Removes a dead owner's lock. If several processes try, one succeeds. A lock removed by mistake is put back; if that
 * fails, its owner notices at the next heartbeat.
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

/** @returns undefined if there is no lock; an unknown owner if it cannot be read */
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
