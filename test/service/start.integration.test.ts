import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { HeldMessages } from "../support/held-messages.ts";
import { packageRoot } from "../support/package-root.ts";
import { childrenOf, isAlive, until } from "../support/processes.ts";
import { SMALL } from "./service.ts";

/** A small model: what it answers is not tested here. */
const model = mkdtempSync(path.join(tmpdir(), "npm-start-"));
before(() => writeTinyPackage(model));
after(() => rmSync(model, { recursive: true }));

/** A process and everything that it has started, itself first. */
function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

for (const { name, signal } of [
  { name: "SIGTERM to npm", signal: (npm: number) => process.kill(npm, "SIGTERM") },
  { name: "Ctrl-C", signal: (npm: number) => process.kill(-npm, "SIGINT") },
]) {
  test(`npm start serves; ${name} lets it answer what it has accepted, then all of it ends`, async () => {
    const held = await HeldMessages.create("load");
    const npm = spawn("npm", ["start", "--", "--port", "0", "--model-path", model], {
      cwd: packageRoot,
      env: { ...process.env, ...held.env },
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
        body: JSON.stringify(SMALL),
      });
      await untilHealth(url, ({ running_requests }) => running_requests === 1);
      signal(pid);
      await untilHealth(url, ({ status }) => status === "draining");
      await held.release("score");
      assert.equal((await answer).status, 200);
      await until(() => !family.some(isAlive), "all have ended");
    } finally {
      for (const each of family.filter(isAlive)) process.kill(each, "SIGKILL");
      await held.remove();
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

async function untilHealth(url: string, isSo: (health: Record<string, unknown>) => boolean): Promise<void> {
  while (!isSo(JSON.parse(await (await fetch(`${url}/health`)).text()))) await sleep(10);
}
