import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { takeLock } from "../../src/models/store/store-lock.ts";

/** No test waits for ever. */
const signal = AbortSignal.timeout(20_000);
/** Short intervals of polling and of the lock's heartbeat. */
const pace = { beatMs: 5, staleMs: 60_000, pollMs: 1 };

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "lock-"));
  file = path.join(folder, "x.lock");
});
afterEach(() => rm(folder, { recursive: true }));

const ownedBy = (owner: object) => writeFile(file, JSON.stringify(owner));

describe("a lock", () => {
  it("is one owner's at a time, in the order of release", async () => {
    const order: string[] = [];
    const one = async (name: string) => {
      const lock = await takeLock(file, { signal, pace });
      order.push(`${name} in`);
      await new Promise(setImmediate);
      order.push(`${name} out`);
      await lock?.release();
    };
    await Promise.all([one("a"), one("b"), one("c")]);
    assert.equal(order.length, 6);
    for (let at = 0; at < 6; at += 2) assert.equal(order[at]?.[0], order[at + 1]?.[0], order.join());
    assert.deepEqual(await readdir(folder), []);
  });

  it("tells who is waited for, or waits only for a sign of life", async () => {
    const held = await takeLock(file, { signal, pace });
    assert.equal(await takeLock(file, { signal, pace, waitsForRelease: false }), undefined);
    let next: Promise<unknown> = Promise.resolve();
    const told = new Promise<string>((onWait) => {
      next = takeLock(file, { signal, pace, onWait }).then((lock) => lock?.release());
    });
    assert.equal(await told, `process ${process.pid} on ${hostname()}`);
    await held?.release();
    await next;
  });

  it("of a process of this machine that is dead is taken over at once", async () => {
    await ownedBy({ id: "dead", host: hostname(), pid: 2 ** 22 + 1 }); // past the largest of Linux
    const lock = await takeLock(file, { signal, pace, waitsForRelease: false });
    assert.ok(lock);
    await lock.release();
  });

  for (const [whose, owner] of [
    ["of another machine", { id: "far", host: "elsewhere", pid: 1 }],
    ["of a process whose number is another one's now", { id: "past", host: hostname(), pid: process.pid }],
  ] as const) {
    for (const waitsForRelease of [true, false]) {
      const how = waitsForRelease ? "" : ", also by who does not wait for its release";
      it(`${whose} is taken over when it gives no sign of life${how}`, async () => {
        await ownedBy(owner);
        const lock = await takeLock(file, {
          signal,
          pace: { ...pace, staleMs: 20 },
          waitsForRelease,
        });
        assert.ok(lock);
        await lock.release();
      });
    }
  }

  it("that holds no owner, for it was killed while it was made, is taken over too", async () => {
    await writeFile(file, "");
    const lock = await takeLock(file, { signal, pace: { ...pace, staleMs: 20 } });
    await lock?.release();
    assert.deepEqual(await readdir(folder), []);
  });

  it("that somebody else has taken tells its owner, who then leaves it alone", async () => {
    const lock = await takeLock(file, { signal, pace });
    await ownedBy({ id: "thief", host: "elsewhere", pid: 1 });
    const alive = setInterval(() => {}, 1000); // the lock itself keeps no process running
    await new Promise((resolve) => lock?.lost.addEventListener("abort", resolve));
    clearInterval(alive);
    await lock?.release();
    assert.match(await readFile(file, "utf8"), /thief/);
  });

  it("that cannot be read, for something else has its name, is an error and not waited for", async () => {
    await mkdir(file);
    await assert.rejects(takeLock(file, { signal, pace: { ...pace, staleMs: 20 } }), {
      code: "ERR_FS_EISDIR",
    });
  });

  it("that the system does not let anybody move is an error and not waited for", async (t) => {
    const fixed = "/sys/kernel/notes"; // the kernel's, which not even root may rename
    if (!existsSync(fixed)) return t.skip("no /sys");
    await assert.rejects(takeLock(fixed, { signal, pace: { ...pace, staleMs: -1 } }), {
      syscall: "rename",
    });
  });

  it("is waited for no longer than the caller wants", async () => {
    await ownedBy({ id: "far", host: "elsewhere", pid: 1 });
    const stop = new AbortController();
    const waiting = takeLock(file, {
      signal: stop.signal,
      pace,
      onWait: () => stop.abort(new Error("enough")),
    });
    await assert.rejects(waiting);
  });
});
