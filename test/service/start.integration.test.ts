import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { childrenOf, isAlive, until } from "../support/processes.ts";
import { heavy } from "./service.ts";

/** A process and everything that it has started, itself first. */
function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

for (const { name, signal } of [
  { name: "SIGTERM to npm", signal: (npm: number) => process.kill(npm, "SIGTERM") },
  { name: "SIGTERM to all its processes at once", signal: (npm: number) => process.kill(-npm, "SIGTERM") },
  { name: "Ctrl-C", signal: (npm: number) => process.kill(-npm, "SIGINT") },
]) {
  test(`npm start serves; ${name} lets it answer what it has accepted, then all of it ends`, async () => {
    const npm = spawn("npm", ["start", "--", "--port", "0"], {
      cwd: packageRoot,
      stdio: ["ignore", "pipe", "ignore"],
      detached: true, // in a process group of its own, as a shell would start it
    });
    const { pid } = npm;
    assert.ok(pid);
    let family: number[] = [];
    try {
      const url = await urlOf(npm.stdout);
      family = familyOf(pid);
      assert.ok(family.length >= 3, "npm, the service and its inference process");
      const answer = fetch(`${url}/v1/systemone`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(heavy(1)),
      });
      await untilRunning(url);
      signal(pid);
      assert.equal((await answer).status, 200);
      await until(() => !family.some(isAlive), "all have ended");
    } finally {
      for (const each of family.filter(isAlive)) process.kill(each, "SIGKILL");
    }
  });
}

async function urlOf(stdout: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const url = /^decision serves .* at (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  assert.fail("npm start ended before it served");
}

async function untilRunning(url: string): Promise<void> {
  for (;;) {
    const { running_requests } = JSON.parse(await (await fetch(`${url}/health`)).text());
    if (running_requests === 1) return;
  }
}
