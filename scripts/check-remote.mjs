// Tries the backend `remote` against real servers on this machine: `npm run check:remote`. Needs a Python at REMOTE_PYTHON with
// nvidia-pytriton (which contains Triton), mlserver and onnxruntime. `node scripts/check-remote.mjs mlserver` tries one server.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = path.join(import.meta.dirname, "..");
const PYTHON = process.env.REMOTE_PYTHON || "python3";
const MODEL = "twig";
const CALLERS = 6;
/** To two servers of which one is killed. */
const REQUESTS = 1_000;
/** Chosen: long enough for a busy machine. */
const START_MS = 120_000;
/** What the backend gives a forward with all its tries, so that a killed server is seen. */
const REMOTE_TIMEOUT_MS = 1_000;
const SERVERS = { triton, mlserver };

const scratch = fs.mkdtempSync(path.join(tmpdir(), "check-remote-"));
/** The processes of this run, each the first of a group of its own. */
const started = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.on("exit", () => {
  for (const child of started) kill(child);
  fs.rmSync(scratch, { recursive: true, force: true });
  for (const name of fs.existsSync("/dev/shm") ? fs.readdirSync("/dev/shm") : [])
    if (name.startsWith(sharedMemory())) fs.rmSync(path.join("/dev/shm", name), { force: true });
});

async function main() {
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SERVERS);
  const unknown = names.find((name) => !Object.hasOwn(SERVERS, name));
  if (unknown !== undefined) giveUp(`${unknown} is no server that is known: expected triton or mlserver`);
  const python = facts(names);
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: ROOT, stdio: "inherit" });
  const bodies = requests();
  for (const precision of ["int8", "fp32"]) {
    const expected = await answersOf(["--precision", precision], bodies);
    for (const name of names) await check(name, precision, python, bodies, expected);
  }
}

async function check(name, precision, python, bodies, expected) {
  const folder = path.join(scratch, `${name}-${precision}`);
  const port = await freePort();
  const server = SERVERS[name](folder, port, precision, python);
  const url = `http://127.0.0.1:${port}`;
  const modelReady = `${url}/v2/models/${MODEL}/ready`;
  let running = start(server);
  await until(`${name} is ready`, async () => (await statusOf(modelReady)) === 200, running);
  refusesOther(name, url, precision === "int8" ? "fp32" : "int8");

  const edge = await startService(remoteFlags(url, precision));
  const answers = await Promise.all(bodies.map((body) => ask(edge.url, body)));
  let farthest = 0;
  for (const [at, { status, text }] of answers.entries()) {
    assert.equal(status, 200, text);
    farthest = Math.max(farthest, distance(JSON.parse(text).answers, expected[at]));
  }
  assert.ok(farthest <= (precision === "int8" ? 0 : 1e-5), `${name}, ${precision}: ${farthest} away`);
  console.log(
    `${name}, ${precision}: ${bodies.length} requests answered as locally (at most ${farthest} away)`,
  );

  if (precision === "int8") {
    const load = callers(edge.url, bodies, expected);
    await until("answers under load", () => load.good > 2 * CALLERS, running);
    await end(running);
    const { good } = load;
    await until(
      "the service is not ready",
      async () => (await statusOf(`${edge.url}/ready`)) === 503,
      edge.child,
    );
    assert.equal((await ask(edge.url, bodies[0])).status, 503, "a service that is not ready refuses");
    running = start(server);
    const restarted = performance.now();
    await until(
      "the service is ready again",
      async () => (await statusOf(`${edge.url}/ready`)) === 200,
      edge.child,
    );
    const seconds = ((performance.now() - restarted) / 1_000).toFixed(1);
    const before = load.good;
    await until("answers after the restart", () => load.good > before + 2 * CALLERS, edge.child);
    await load.end();
    assert.ok(load.failed > 0, "the death of the server was not seen");
    console.log(
      `${name}: killed after ${good} answers under load, ready again ${seconds} s after its restart; ${load.good} answers, all as locally, ${load.failed} requests failed: ${[...load.kinds].sort().join(", ")}`,
    );
  }
  await end(edge.child);
  await end(running);
  if (precision === "int8") await checkTwo(name, python, bodies, expected);
}

/** Two servers behind one address, of which one is killed: nothing is lost. */
async function checkTwo(name, python, bodies, expected) {
  const ports = [await freePort(), await freePort()];
  const servers = ports.map((port) =>
    start(SERVERS[name](path.join(scratch, `${name}-${port}`), port, "int8", python)),
  );
  for (const [at, port] of ports.entries()) {
    const url = `http://127.0.0.1:${port}/v2/models/${MODEL}/ready`;
    await until(`${name} is ready`, async () => (await statusOf(url)) === 200, servers[at]);
  }
  const front = await balance(ports);
  const edge = await startService(remoteFlags(front.url, "int8"));
  const load = callers(edge.url, bodies, expected, REQUESTS);
  await until("answers by both", () => load.good > REQUESTS / 4, edge.child);
  assert.ok(Math.min(...front.counts) > 0, "both servers are asked");
  await end(servers[0]);
  await load.calls;
  const { good, failed } = load;
  console.log(`${name}: one of two servers killed: ${good} of ${REQUESTS} requests answered as locally`);
  assert.deepEqual([good, failed], [REQUESTS, 0]);
  front.close();
  await end(edge.child);
  await end(servers[1]);
}

/** One address for several servers: each connection goes to the next one that takes it. */
async function balance(ports) {
  const counts = ports.map(() => 0);
  let turn = 0;
  const join = (socket, tries) => {
    if (tries === ports.length) return socket.destroy();
    const at = turn++ % ports.length;
    const behind = connect(ports[at], "127.0.0.1");
    behind.once("error", () => join(socket, tries + 1));
    behind.once("connect", () => {
      counts[at] += 1;
      behind.removeAllListeners("error").on("error", () => socket.destroy());
      socket.on("error", () => behind.destroy());
      socket.pipe(behind).pipe(socket);
      behind.once("close", () => socket.destroy());
    });
  };
  const server = createServer((socket) => join(socket, 0)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, counts, close: () => server.close() };
}

/** A model of another precision ends the service with a sentence. */
function refusesOther(name, url, precision) {
  const args = ["bin/decision.js", "serve", "--port", "0", ...remoteFlags(url, precision)];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: environment(),
    encoding: "utf8",
    timeout: START_MS,
  });
  assert.notEqual(status, 0, `${name} with the wrong precision is refused`);
  assert.match(stderr, new RegExp(`in ${precision}: the digest of its graph is`));
}

/** Asks one request after the other, as many as given or until its end, and compares each answer. */
function callers(url, bodies, expected, most = Number.POSITIVE_INFINITY) {
  const load = { good: 0, failed: 0, kinds: new Set() };
  let isOver = false;
  const call = async (number) => {
    for (let turn = number; !isOver && turn < most; turn += CALLERS) {
      const at = turn % bodies.length;
      const { status, text } = await ask(url, bodies[at]);
      if (status === 200) {
        assert.equal(distance(JSON.parse(text).answers, expected[at]), 0, "a wrong answer");
        load.good += 1;
      } else {
        assert.ok(status === 500 || status === 503, `${status} ${text}`);
        load.failed += 1;
        load.kinds.add(`${status} ${JSON.parse(text).error?.code ?? ""}`.trim());
        await sleep(100);
      }
    }
  };
  load.calls = Promise.all(Array.from({ length: CALLERS }, (_, number) => call(number)));
  load.end = () => {
    isOver = true;
    return load.calls;
  };
  return load;
}

/** What a service of this machine answers. */
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

/** States of many lengths, in several languages; one to five questions of each type. */
function requests() {
  const texts = [
    "You are all useless. I want to speak to a manager now!",
    "Die Rechnung wurde zweimal abgebucht, bitte erstatten Sie den Betrag.",
    "注文した商品がまだ届きません。いつ届きますか? 🚚",
    "Thanks, everything arrived on time. ",
  ];
  const questions = {
    angry: { type: "noul", instructions: "The customer is angry." },
    intent: {
      type: "choice",
      instructions: "What does the customer want?",
      criteria: { refund: "Money back", delivery: "To know where the parcel is", other: "Something else" },
    },
    urgency: {
      type: "score",
      instructions: "How urgent is this?",
      criteria: ["can wait", "this week", "today"],
    },
    long: { type: "noul", instructions: `It is about this: ${"an order of last week, ".repeat(12)}or not.` },
  };
  const names = Object.keys(questions);
  return Array.from({ length: 24 }, (_, at) => ({
    state: `Ticket ${at}. ${texts[at % texts.length].repeat(1 + (at % 7) * 3)}`,
    questions: Object.fromEntries(
      names.slice(0, 1 + (at % names.length)).map((name) => [name, questions[name]]),
    ),
  }));
}

/** How far two equal structures' numbers are apart at most; infinite if they are not equal structures. */
function distance(left, right) {
  if (typeof left === "number" && typeof right === "number") return Math.abs(left - right);
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object")
    return left === right ? 0 : Number.POSITIVE_INFINITY;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...keys.map((key) => distance(left[key], right[key])));
}

/** Triton as nvidia-pytriton brings it: without the onnxruntime backend, so by deploy/triton/model.py. */
function triton(folder, port, precision, { libraries, site, version }) {
  const repository = path.join(folder, "repository");
  exportModel("triton", precision, repository);
  const config = path.join(repository, MODEL, "config.pbtxt");
  const text = fs.readFileSync(config, "utf8");
  const own = text.replace(
    'backend: "onnxruntime"\ndefault_model_filename: "model.onnx"',
    'backend: "python"',
  );
  assert.notEqual(own, text, "config.pbtxt names its backend");
  fs.writeFileSync(config, own);
  fs.copyFileSync(path.join(ROOT, "deploy/triton/model.py"), path.join(repository, MODEL, "1/model.py"));
  // as nvidia-pytriton does it: the server and the backend in a folder, with the stub of this Python
  const home = path.join(site, "pytriton/tritonserver");
  const backends = path.join(folder, "backends");
  fs.cpSync(path.join(home, "backends/python"), path.join(backends, "python"), { recursive: true });
  const stub = path.join(backends, "python/triton_python_backend_stub");
  fs.copyFileSync(path.join(home, "python_backend_stubs", version, path.basename(stub)), stub);
  const program = path.join(folder, "tritonserver");
  fs.copyFileSync(path.join(home, "bin/tritonserver"), program);
  for (const file of [stub, program]) fs.chmodSync(file, 0o755);
  const args = ["--model-repository", repository, "--backend-directory", backends, "--allow-grpc", "false"];
  args.push("--http-address", "127.0.0.1", "--http-port", String(port), "--allow-metrics", "false");
  args.push("--backend-config", `python,shm-region-prefix-name=${sharedMemory()}`);
  const { PATH, LD_LIBRARY_PATH = "" } = process.env;
  const env = {
    PATH: `${path.dirname(PYTHON)}:${PATH}`,
    PYTHONPATH: site,
    LD_LIBRARY_PATH: [libraries, path.join(site, "nvidia_pytriton.libs"), LD_LIBRARY_PATH].join(":"),
  };
  return { program, args, env, log: path.join(folder, "log") };
}

function sharedMemory() {
  return `decision_check_${process.pid}_`;
}

function mlserver(folder, port, precision) {
  const model = path.join(folder, MODEL);
  exportModel("onnx", precision, model);
  for (const file of ["decision_mlserver.py", "model-settings.json"])
    fs.copyFileSync(path.join(ROOT, "deploy/mlserver", file), path.join(model, file));
  const env = {
    PYTHONPATH: model,
    MLSERVER_HOST: "127.0.0.1",
    MLSERVER_HTTP_PORT: String(port),
    MLSERVER_GRPC_PORT: "0",
    MLSERVER_METRICS_ENDPOINT: "",
    MLSERVER_PARALLEL_WORKERS: "0",
  };
  const args = ["-m", "mlserver.cli.main", "start", folder];
  return { program: PYTHON, args, env, log: path.join(folder, "log") };
}

function exportModel(format, precision, output) {
  const args = [
    "bin/decision.js",
    "model",
    "export",
    "--format",
    format,
    "--output",
    output,
    "--precision",
    precision,
  ];
  execFileSync(process.execPath, args, {
    cwd: ROOT,
    env: environment(),
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Where that Python has its things. */
function facts(names) {
  const needed = [
    "onnxruntime",
    ...names.map((name) => ({ triton: "nvidia-pytriton", mlserver: "mlserver" })[name]),
  ];
  const code = `
import importlib.metadata as packages, json, sys, sysconfig
versions = {}
for name in sys.argv[1:]:
    try:
        versions[name] = packages.version(name)
    except packages.PackageNotFoundError:
        sys.exit("has no package " + name)
print(json.dumps({
    "versions": versions, "site": sysconfig.get_path("platlib"), "libraries": sysconfig.get_config_var("LIBDIR"),
    "version": "%d.%d" % sys.version_info[:2]}))`;
  const { error, status, stdout, stderr } = spawnSync(PYTHON, ["-c", code, ...needed], { encoding: "utf8" });
  if (status !== 0)
    giveUp(
      `${PYTHON}: ${error?.message ?? stderr.trim()}. Set REMOTE_PYTHON to a Python with ${needed.join(", ")}.`,
    );
  const found = JSON.parse(stdout);
  console.log(needed.map((name) => `${name} ${found.versions[name]}`).join(", "));
  return found;
}

function giveUp(message) {
  console.error(message);
  process.exit(1);
}

function remoteFlags(url, precision) {
  const flags = ["--backend", "remote", "--remote-url", url, "--precision", precision];
  return [...flags, "--remote-timeout-ms", String(REMOTE_TIMEOUT_MS)];
}

/** This process's variables without settings of the service. */
function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DECISION_")));
}

async function startService(flags) {
  const port = await freePort();
  const log = path.join(scratch, `service-${port}.log`);
  const args = [path.join(ROOT, "bin/decision.js"), "serve", "--port", String(port), ...flags];
  const child = start({ program: process.execPath, args, env: {}, log });
  const url = `http://127.0.0.1:${port}`;
  await until("a service is ready", async () => (await statusOf(`${url}/ready`)) === 200, child);
  return { url, child };
}

function start({ program, args, env, log }) {
  const file = fs.openSync(log, "a");
  const options = {
    cwd: scratch,
    env: { ...environment(), ...env },
    stdio: ["ignore", file, file],
    detached: true,
  };
  const child = Object.assign(spawn(program, args, options), { log });
  fs.closeSync(file);
  started.add(child);
  return child;
}

/** Kills a process with those that it started. */
function kill({ pid }) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

async function end(child) {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
  kill(child);
  await ended;
  started.delete(child);
}

async function ask(url, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/systemone`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const statusOf = (url) =>
  fetch(url).then(
    async (response) => {
      await response.text();
      return response.status;
    },
    () => 0,
  );

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

/** @throws if it does not become so in time, or a process ends before */
async function until(what, isSo, watched) {
  const began = performance.now();
  while (!(await isSo())) {
    const hasEnded = watched.exitCode !== null || watched.signalCode !== null;
    if (hasEnded || performance.now() - began > START_MS)
      throw new Error(
        `not so ${hasEnded ? "when its process ended" : "in time"}: ${what}\n${logOf(watched)}`,
      );
    await sleep(100);
  }
}

const logOf = ({ log }) => fs.readFileSync(log, "utf8").split("\n").slice(-20).join("\n");

await main();
process.exit(0);
