import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { childrenOf } from "../support/processes.ts";
import { freePort, SMALL } from "./service.ts";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;

/** The connections and datagrams to other sockets than local ones, of both processes, while one request is answered. */
async function outgoing(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "outgoing-"));
  const log = path.join(folder, "strace.log");
  const port = await freePort();
  const traced = ["-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", log];
  const command = [path.join(packageRoot, "bin/decision.js"), "serve", "--port", String(port)];
  const child = spawn("strace", [...traced, process.execPath, ...command], {
    env: { ...process.env, HTTP_PROXY: "http://127.0.0.1:9", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    assert.match(String(await once(child.stdout, "data")), /^decision serves/);
    const headers = { "content-type": "application/json" };
    const url = `http://127.0.0.1:${port}/v1/systemone`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(SMALL) });
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
    // the tracer ends when all that it traces has ended
    for (const pid of childrenOf(Number(child.pid))) process.kill(pid, "SIGTERM");
    await once(child, "exit");
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
    assert.deepEqual(await outgoing({}), []);
  });

  it("opens one to a collector of traces that is named, which is seen", async () => {
    const collector = `http://127.0.0.1:${await freePort()}`;
    assert.notDeepEqual(await outgoing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector }), []);
  });
});
