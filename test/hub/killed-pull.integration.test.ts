import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, rm } from "node:fs/promises";
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

  setup.hub.seen.length = 0;
  const next = start();
  next.stdout.resume();
  const [code] = await once(next, "exit");
  assert.equal(code, 0);
  assert.deepEqual(await setup.contents(), new Map([...setup.files].sort()));
  const ranges = setup.hub.fetches("model.safetensors").map(({ range }) => range);
  assert.match(ranges.join(), /^bytes=[1-9]\d*-$/);
});

it("two pulls at once both end with the right package, though connections break", async () => {
  await rm(setup.folder, { recursive: true });
  setup.hub.trouble.breakAfter.push(300_000, 200_000, 100_000);
  const pulls = [start(), start()];
  for (const { stdout } of pulls) stdout.resume();
  const codes = await Promise.all(pulls.map(async (pull) => (await once(pull, "exit"))[0]));
  assert.deepEqual(codes, [0, 0]);
  assert.deepEqual(await setup.contents(), new Map([...setup.files].sort()));
  assert.deepEqual(await setup.manifest(), setup.model.manifest);
});
