// Four services behind a gateway, with and without the affinity header: throughput, and how often a state was in a
// cache. `node deploy/affinity/measure.mjs nginx|envoy [SECONDS] [ROUNDS]`. Needs a built checkout, and the gateway in
// PATH or its path in NGINX or ENVOY. The gateway runs the configuration beside this file, with the addresses of this
// run.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort, GATEWAYS } from "./gateways.mjs";

const [gateway, seconds = "10", rounds = "2"] = process.argv.slice(2);
const SECONDS = Number(seconds);
if (GATEWAYS[gateway] === undefined || !(SECONDS > 0) || !(Number(rounds) > 0)) {
  console.error("usage: node deploy/affinity/measure.mjs nginx|envoy [SECONDS] [ROUNDS]");
  process.exit(2);
}
const CALLERS = 8;
// Chosen: states that callers ask about again and again. All fit into the caches of four services together, and not
// into one.
const STATES = 12;
const STATE_CACHE_MB = 16;
const WORDS =
  "order parcel refund invoice card printer account login delay support price queue letter box city".split(
    " ",
  );

const root = path.join(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "affinity-"));
const children = [];

const [FRONT, ...PORTS] = await Promise.all(Array.from({ length: 5 }, freePort));

try {
  for (const port of PORTS)
    start(process.execPath, ["bin/decision.js", "serve", "--port", port, "--state-cache-mb", STATE_CACHE_MB]);
  for (const port of PORTS) await ready(port);
  start(...GATEWAYS[gateway](folder, FRONT, PORTS));
  await ready(FRONT);
  for (let turn = 0; turn < 2 * Number(rounds); turn += 1) {
    const withHeader = turn % 2 === 1;
    const before = await counters();
    const requests = await load(withHeader);
    const after = await counters();
    const hits = after.hits - before.hits;
    const share = (100 * hits) / (hits + after.misses - before.misses);
    const rate = (requests / SECONDS).toFixed(1);
    console.log(
      `${withHeader ? "with" : "without"} the header: ${rate} requests/s, ${share.toFixed(1)} % of states cached`,
    );
  }
} finally {
  for (const child of children) child.kill();
  await Promise.all(
    children.map((child) => child.pid === undefined || (child.exitCode ?? once(child, "exit"))),
  );
  rmSync(folder, { recursive: true });
}

function start(command, args) {
  const child = spawn(command, args.map(String), { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  child.on("error", ({ message }) => console.error(`${command} cannot be run: ${message}`));
  children.push(child);
}

async function ready(port) {
  const until = Date.now() + 60_000;
  while (
    !(await fetch(`http://127.0.0.1:${port}/ready`).then(
      (r) => r.ok,
      () => false,
    ))
  ) {
    assert.ok(Date.now() < until, `nothing is ready on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** 150 words: long enough that its encoding is kept. */
function stateOf(index) {
  return Array.from(
    { length: 150 },
    (_, word) => WORDS[(word * (index + 3) + index * 7 + ((word * word) >> 3)) % WORDS.length],
  ).join(" ");
}

/** Requests answered in the time. Each asks one of the states a question that was not asked before. */
async function load(withHeader) {
  const until = Date.now() + SECONDS * 1000;
  let requests = 0;
  const caller = async (seed) => {
    for (let turn = seed; Date.now() < until; turn += CALLERS) {
      const state = stateOf((turn * 7919) % STATES);
      const digest = createHash("sha256").update(state).digest("base64url");
      const response = await fetch(`http://127.0.0.1:${FRONT}/v1/systemone`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(withHeader ? { "x-decision-affinity": digest } : {}),
        },
        body: JSON.stringify({
          state,
          questions: { a: { type: "noul", instructions: `Is case ${turn} about money?` } },
        }),
      });
      assert.equal(response.status, 200, await response.text());
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, seed) => caller(seed)));
  return requests;
}

async function counters() {
  const pages = await Promise.all(
    PORTS.map((port) => fetch(`http://127.0.0.1:${port}/metrics`).then((r) => r.text())),
  );
  const sum = (name) =>
    pages.reduce((total, page) => total + Number(new RegExp(`^${name} (\\S+)$`, "m").exec(page)[1]), 0);
  return { hits: sum("decision_state_cache_hits_total"), misses: sum("decision_state_cache_misses_total") };
}
