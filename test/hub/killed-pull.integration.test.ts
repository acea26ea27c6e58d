import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, it } from "node:test";
import { fileURLToPath } from "node:url";
import { PullSetup } from "./pull-setup.ts";

const WEIGHT_BYTES = 900_000;
const entry = fileURLToPath(new URL("./pull-process.js", import.meta.url));

let setup: PullSetup;
before(async () => {
  setup = await PullSetup.create(WEIGHT_BYTES);
});
after(() => setup.remove());

function start() {
  const args = [entry, setup.hub.endpoint, setup.home, String(WEIGHT_BYTES)];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

it("a pull that is killed leaves nothing that looks complete, and the next one goes on where it ended", async () => {
  setup.hub.trouble.stallAfter.push(500_000);
  const killed = start();
  for await (const line of createInterface({ input: killed.stdout })) {
    // all that came before the silence; the other files are before it
    if (/^model\.safetensors/.test(line) && Number(line.split(" ")[1]) >= 500_000) break;
  }
  killed.kill("SIGKILL");
  await once(killed, "exit");
  await assert.rejects(access(path.join(setup.folder, "manifest.json")));
  await assert.rejects(access(path.join(setup.folder, "model.safetensors")));
  await access(`${setup.folder}.lock`);

  setup.hub.seen.length = 0;
  const next = start();
  next.stdout.resume();
  const [code] = await once(next, "exit");
  assert.equal(code, 0);
  assert.deepEqual(await setup.contents(), new Map([...setup.files].sort()));
  const ranges = setup.hub.fetches("model.safetensors").map(({ range }) => range);
  assert.deepEqual(ranges, ["bytes=500000-"]);
  await assert.rejects(access(`${setup.folder}.lock`), "the dead owner's lock is gone, too");
});
