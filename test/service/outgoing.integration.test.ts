import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { describe, it } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { childrenOf } from "../support/processes.ts";
import { freePort, SMALL } from "./service.ts";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;

/** Runs a program of Node.js. @returns the connections and datagrams to other sockets than local ones, of all its processes */
async function outgoing(
  program: readonly string[],
  whileItRuns: (stdout: Readable, end: () => void) => Promise<void>,
): Promise<readonly string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "outgoing-"));
  const log = path.join(folder, "strace.log");
  const traced = ["-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", log];
  const child = spawn("strace", [...traced, process.execPath, ...program], {
    env: { ...process.env, HTTP_PROXY: "http://127.0.0.1:9" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  try {
    await whileItRuns(child.stdout, () => {
      for (const pid of childrenOf(Number(child.pid))) process.kill(pid, "SIGTERM");
    });
    await ended; // the tracer ends when all that it traces has ended
    return readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => /sa_family=AF_INET/.test(line));
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

describe("a service", { skip: hasStrace ? false : "needs Linux with strace" }, () => {
  it("opens no connection while it starts, answers and stops", async () => {
    const port = await freePort();
    const program = [path.join(packageRoot, "bin/decision.js"), "serve", "--port", String(port)];
    const found = await outgoing(program, async (stdout, end) => {
      assert.match(String(await once(stdout, "data")), /^decision serves/);
      const headers = { "content-type": "application/json" };
      const url = `http://127.0.0.1:${port}/v1/systemone`;
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(SMALL) });
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
      end();
    });
    assert.deepEqual(found, []);
  });

  it("would be seen to open one, as another program is", async () => {
    const program = ["--eval", 'require("node:net").connect(9, "127.0.0.1").on("error", () => {})'];
    const found = await outgoing(program, async () => {});
    assert.notDeepEqual(found, []);
  });
});
