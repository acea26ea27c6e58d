// The inspector's command line. It needs Node 22.19, which npm fetches.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import path from "node:path";
import { check, fullUrl, key, nodeOf, plain, report, slowUrl, url } from "../ready.mjs";

const modules = process.env.READY_MODULES;
const node = nodeOf("22.23.3");
const inspector = realpathSync(path.join(modules, ".bin", "mcp-inspector"));

/** Runs one method. @returns its exit code and what it printed */
function inspect(address, args, bearer = key) {
  const at = ["--cli", address, "--transport", "http", "--header", `Authorization: Bearer ${bearer}`];
  const { status, stdout, stderr } = spawnSync(node, [inspector, ...at, ...args], { encoding: "utf8" });
  return { status, stdout, said: stdout + stderr };
}

const RANK = { state: "A paper jam.", candidates: ["Open tray 2.", "Buy ink."] };
const callRank = (address, { state, candidates }, bearer) => {
  const given = [`state=${state}`, `candidates=${JSON.stringify(candidates)}`];
  const flags = given.flatMap((argument) => ["--tool-arg", argument]);
  return inspect(address, ["--method", "tools/call", "--tool-name", "rank", ...flags], bearer);
};

await check("the tools are listed", () => {
  const { tools } = JSON.parse(inspect(url, ["--method", "tools/list"]).stdout);
  assert.deepEqual(tools.map(({ name }) => name).sort(), ["decide", "models", "rank"]);
});

await check("a call gives the plain contract's numbers", async () => {
  const { latency_ms: _, ...told } = JSON.parse(callRank(url, RANK).stdout).structuredContent;
  const { latency_ms: __, ...expected } = await plain("/v1/rank", RANK);
  assert.deepEqual(told, expected);
});

await check("an error says what was expected", () => {
  assert.match(
    callRank(url, { ...RANK, candidates: ["a"] }).said,
    /candidates: Expected at least 2 elements/,
  );
});

// The inspector takes a 401 for the beginning of OAuth.
await check("a wrong key is refused", () => {
  const { status, said } = callRank(url, RANK, "wrong");
  assert.notEqual(status, 0);
  assert.match(said, /auth_required/);
});

await check("a full queue and the deadline are told", () => {
  assert.match(callRank(fullUrl, RANK).said, /queue is full/);
  assert.match(callRank(slowUrl, RANK).said, /deadline/);
});

report();
