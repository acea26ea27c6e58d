// Tests the backend `remote` against real servers on this machine: `npm run check:remote`. Each needs a Python with its
// packages: REMOTE_PYTHON has nvidia-pytriton (which contains Triton) and onnxruntime, KSERVE_PYTHON has
// kserve and onnxruntime, DECISION_PYTHON has torch and numpy, and the same Python version as REMOTE_PYTHON.
// `node scripts/checks/check-remote.mjs kserve` tests one server; without a name, all servers whose packages are
// installed.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import {
  end,
  environment,
  freePort,
  ROOT,
  START_MS,
  scratch,
  start,
  startService,
  statusOf,
  until,
} from "../remote/processes.mjs";
import { ask, CALLERS, callers, distance, requests } from "../remote/requests.mjs";
import { pythonsOf, SERVERS } from "../remote/servers.mjs";

/** Timeout of a forward including retries, short enough to notice a killed server. */
const REMOTE_TIMEOUT_MS = 1_000;
/** Timeout if no server is killed: forwards may be large and wait for one another. */
const LONG_TIMEOUT_MS = 60_000;
/** Key of the service that is checked against the contract. */
const KEY = "a-key-of-this-run";

const EMBEDDED = { name: "twig", folder: path.join(ROOT, "model") };
/** Small random weights in the architecture gemma3-text-joint. */
const CAUSAL = { name: "causal", folder: path.join(ROOT, "test/golden/gemma3/five-to-one") };
/**
 * Maximum difference from the answers of the backend onnx (in fp32 for bf16 too): for the same runtime, and for PyTorch
 * with the bounds of test/backends/native-scores.native.test.ts.
 */
const FARTHEST = { onnx: { int8: 0, fp32: 1e-5 }, native: { fp32: 2.5e-5, bf16: 0.5 } };
const PRECISIONS = ["int8", "fp32", "bf16"];

async function main() {
  const servers = choose(process.argv.slice(2));
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: ROOT, stdio: "inherit" });
  const bodies = requests();
  for (const each of [EMBEDDED, CAUSAL])
    for (const precision of PRECISIONS) {
      const asked = servers.filter(({ precisions }) => precisions.includes(precision));
      if (asked.length === 0) continue;
      const model = { ...each, precision };
      const expected = await answersOf(packageFlags({ ...model, precision: localOf(precision) }), bodies);
      for (const server of asked) {
        await checkAnswers(server, model, bodies, expected);
        if (each !== EMBEDDED || precision !== server.precisions[0]) continue;
        await checkDeath(server, model, bodies, expected);
        await checkContract(server, model);
      }
    }
}

const farthestOf = ({ backend }, { precision }) => FARTHEST[backend][precision];
const localOf = (precision) => (precision === "bf16" ? "fp32" : precision);

/** The servers to test, with facts about the Pythons of each. */
function choose(named) {
  const unknown = named.find((name) => !Object.hasOwn(SERVERS, name));
  if (unknown !== undefined)
    giveUp(`${unknown} is not a known server; expected one of ${Object.keys(SERVERS).join(", ")}`);
  const servers = [];
  for (const name of named.length > 0 ? named : Object.keys(SERVERS))
    try {
      const pythons = pythonsOf(name);
      servers.push({ ...SERVERS[name], name, pythons });
      const versions = pythons.flatMap((python) => Object.entries(python.versions));
      console.log(`${name}: ${versions.map((each) => each.join(" ")).join(", ")}`);
    } catch (error) {
      if (named.length > 0) giveUp(error.message);
      console.log(`left out: ${name}. ${error.message}`);
    }
  if (servers.length === 0) giveUp("no server can be tested");
  return servers;
}

/**
 * Compares answers with those of a local service, and checks that a model of another precision ends the service with an
 * error.
 */
async function checkAnswers(server, model, bodies, expected) {
  const { url, child } = await startServer(server, model);
  refusesOther(url, { ...model, precision: server.precisions.find((each) => each !== model.precision) });
  const edge = await startService(remoteFlags(url, model));
  const answers = await Promise.all(bodies.map((body) => ask(edge.url, body)));
  const isCoarse = model.precision === "bf16";
  let farthest = 0;
  for (const [at, { status, text }] of answers.entries()) {
    assert.equal(status, 200, text);
    const found = JSON.parse(text).answers;
    // in low precision, nearly equal candidates may change places
    const [left, right] = isCoarse ? [scoresOf(found), scoresOf(expected[at])] : [found, expected[at]];
    farthest = Math.max(farthest, distance(left, right));
  }
  const what = `${server.name}, ${model.name} in ${model.precision}`;
  assert.ok(farthest <= farthestOf(server, model), `${what}: ${farthest} away`);
  const like = isCoarse ? "near those in fp32" : "as locally";
  console.log(`${what}: ${bodies.length} requests answered ${like} (at most ${farthest} away)`);
  await end(edge.child);
  await end(child);
}

const scoresOf = (answers) => Object.values(answers).map(({ scores }) => scores);

/** Kills the server under load and restarts it. */
async function checkDeath(server, model, bodies, expected) {
  const { url, child, begin } = await startServer(server, model);
  const edge = await startService(remoteFlags(url, model));
  const load = callers(edge.url, bodies, expected, farthestOf(server, model));
  await until("answers under load", () => load.good > 2 * CALLERS, child);
  await end(child);
  const { good } = load;
  const isReady = async () => (await statusOf(`${edge.url}/ready`)) === 200;
  await until("the service is not ready", async () => !(await isReady()), edge.child);
  assert.equal((await ask(edge.url, bodies[0])).status, 503, "a service that is not ready refuses");
  const again = begin();
  const restarted = performance.now();
  await until("the service is ready again", isReady, edge.child);
  const seconds = ((performance.now() - restarted) / 1_000).toFixed(1);
  const before = load.good;
  await until("answers after the restart", () => load.good > before + 2 * CALLERS, edge.child);
  await load.end();
  assert.ok(load.failed > 0, "the service did not notice the server's death");
  console.log(
    `${server.name}: killed after ${good} answers under load, ready again ${seconds} s after its restart; ` +
      `${load.good} answers, all as locally, ${load.failed} requests failed: ${[...load.kinds].sort().join(", ")}`,
  );
  await end(edge.child);
  await end(again);
}

/** Runs `decision conformance`. */
async function checkContract(server, model) {
  const { url, child } = await startServer(server, model);
  const edge = await startService(remoteFlags(url, model, LONG_TIMEOUT_MS), { DECISION_API_KEY: KEY });
  const { profile = "full" } = server;
  const args = [
    "bin/decision.js",
    "conformance",
    edge.url,
    "--profile",
    profile,
    "--json",
    "--timeout",
    "60",
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...environment(), DECISION_API_KEY: KEY },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  assert.equal(status, 0, `${stderr}\n${stdout.slice(0, 20_000)}`);
  const { results } = JSON.parse(stdout);
  const count = (outcome) => results.filter((each) => each.outcome === outcome).length;
  assert.equal(count("failed"), 0);
  assert.ok(count("passed") > 20, stdout.slice(0, 2_000));
  const [kept, skipped] = [count("passed"), count("skipped")];
  console.log(`${server.name}: ${kept} clauses of the contract (${profile}) passed, ${skipped} skipped`);
  await end(edge.child);
  await end(child);
}

let folders = 0;

/** Starts a server with its own folder and port. Resolves when the model is ready. */
async function startServer({ name, pythons, serve }, model) {
  const port = await freePort();
  folders += 1;
  const command = serve(path.join(scratch, `${name}-${folders}`), port, model, pythons);
  const begin = () => start(command);
  const child = begin();
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => (await statusOf(`${url}/v2/models/${model.name}/ready`)) === 200;
  await until(`${name} is ready`, isReady, child);
  return { url, port, child, begin };
}

/** Checks that a service that expects another precision ends with an error. */
function refusesOther(url, model) {
  const args = ["bin/decision.js", "serve", "--port", "0", ...remoteFlags(url, model)];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: environment(),
    encoding: "utf8",
    timeout: START_MS,
  });
  assert.notEqual(status, 0, `${model.precision} is refused`);
  assert.match(stderr, new RegExp(`in ${model.precision}: the digest of its graph is`));
}

/** The answers of a local service. */
async function answersOf(flags, bodies) {
  const service = await startService(flags);
  const answers = [];
  for (const body of bodies) {
    const { status, text } = await ask(service.url, body);
    assert.equal(status, 200, text);
    answers.push(JSON.parse(text).answers);
  }
  await end(service.child);
  return answers;
}

const packageFlags = ({ folder, precision }) => ["--model-path", folder, "--precision", precision];

function remoteFlags(url, model, timeoutMs = REMOTE_TIMEOUT_MS) {
  const flags = ["--backend", "remote", "--remote-url", url, "--remote-model", model.name];
  return [...packageFlags(model), ...flags, "--remote-timeout-ms", String(timeoutMs)];
}

function giveUp(message) {
  console.error(message);
  process.exit(1);
}

await main();
process.exit(0);
