// Installs existing clients of other products at pinned versions, from their registries, and runs each against the
// service: nothing but their base URL is changed. Every folder here with a client.json is one client.
//
//     node clients/ready/run.mjs                       every client
//     node clients/ready/run.mjs --only typesafe-js    one; repeatable
//     node clients/ready/run.mjs --install             installs them and runs none
//
// client.json:
//     have       what its user has, as in the table of docs/dialects.md
//     baseUrl    what its user sets, with the address of a local service as ORIGIN
//     language   "node" or "python"
//     packages   of npm (NAME@VERSION) or PyPI (NAME==VERSION)
//     omit       kinds of dependencies that npm leaves out, such as "optional"
//     bare       of PyPI, installed without what they depend on: for packages that bring a model's runtime
//     program    the file to run; it exits with 0 if all is well, and prints one line
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const KEY = "a-key-for-ready-clients";
const START_TIMEOUT_MS = 180_000; // chosen: a start takes about a second, on a busy machine a minute
const PROGRAM_TIMEOUT_MS = 120_000; // chosen: a program takes some seconds

/** While one waits in the queue, the other asks again and again, so that it takes the place as soon as it is free. */
const FILLERS = 2;
/** Milliseconds between two requests of a filler that the full queue refuses. */
const REFILL_MS = 5;

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "..", "..");
const cache = path.join(here, ".cache");
const execute = promisify(execFile);

/** Beside a service with defaults: one whose queue is full, and one whose deadline passes before it answers. */
const SERVICES = {
  main: [],
  full: ["--queue-size", "1", "--batch-wait-ms", "10000"],
  slow: ["--deadline-ms", "400", "--batch-wait-ms", "10000"],
};

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());

try {
  await main();
} catch (error) {
  console.error(`ready: ${error.message}`);
  process.exitCode = 1;
}

async function main() {
  const options = { only: { type: "string", multiple: true }, install: { type: "boolean" } };
  const { only, install: isInstallOnly } = parseArgs({ options }).values;
  const clients = await chosenClients(only);
  await checkTable(clients);
  const environments = [];
  for (const client of clients) environments.push(await install(client));
  if (isInstallOnly) return;
  await run(process.execPath, ["scripts/build.mjs"]);
  const services = Object.values(SERVICES).map(spawnService);
  const done = new AbortController();
  try {
    const [origin, full, slow] = await Promise.all(services.map(urlOf));
    const filling = Promise.all(Array.from({ length: FILLERS }, () => keepFull(full, done.signal)));
    for (const [at, client] of clients.entries()) {
      const urls = { main: origin, full, slow };
      process.stdout.write(await tryClient(client, environments[at], urls));
    }
    done.abort();
    await filling;
  } finally {
    done.abort();
    await Promise.all(services.map(stop));
  }
}

/** @param only names; undefined for all */
async function chosenClients(only) {
  const names = (await readdir(here, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && existsSync(path.join(here, entry.name, "client.json")))
    .map(({ name }) => name)
    .sort();
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--only: expected ${names.join(", ")}, got ${unknown}`);
  return Promise.all(
    (only ?? names).map(async (name) => ({
      name,
      ...JSON.parse(await readFile(path.join(here, name, "client.json"), "utf8")),
    })),
  );
}

/** The table of docs/dialects.md has a row for each client. */
async function checkTable(clients) {
  const page = await readFile(path.join(root, "docs/dialects.md"), "utf8");
  for (const { name, have, baseUrl } of clients) {
    const url = `| \`${baseUrl.replace("ORIGIN", "http://127.0.0.1:8700")}\` |`;
    if (!page.includes(`| ${have} ${url}`)) throw new Error(`docs/dialects.md lacks the row of ${name}`);
  }
}

/** Once for each list of packages. @returns the folder with the packages, or the Python that has them */
async function install({ name, language, packages, bare = [], omit = [] }) {
  const wanted = JSON.stringify([language, packages, bare, ...omit]);
  const folder = path.join(
    cache,
    `${name}-${createHash("sha256").update(wanted).digest("hex").slice(0, 12)}`,
  );
  const program = language === "python" ? path.join(folder, "bin", "python") : folder;
  if (existsSync(path.join(folder, "complete"))) return program;
  await rm(folder, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  if (language === "python") await installPython(folder, packages, bare);
  else await installNode(folder, packages, omit);
  await writeFile(path.join(folder, "complete"), wanted);
  return program;
}

/** All environments share one pip, and most modules are never imported: neither a pip each nor bytecode is made. */
async function installPython(folder, packages, bare) {
  const pip = path.join(cache, "pip");
  if (!existsSync(path.join(pip, "complete"))) {
    await run("python3", ["-m", "venv", "--clear", pip]);
    await writeFile(path.join(pip, "complete"), "");
  }
  await run("python3", ["-m", "venv", "--without-pip", folder]);
  const flags = ["--python", path.join(folder, "bin", "python"), "install", "--quiet", "--no-compile"];
  const install = (...names) =>
    run(path.join(pip, "bin", "pip"), ["--disable-pip-version-check", ...flags, ...names]);
  if (bare.length > 0) await install("--no-deps", ...bare);
  if (packages.length > 0) await install(...packages);
}

async function installNode(folder, packages, omit) {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await writeFile(path.join(draft, "package.json"), '{"private": true}\n');
  const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  const left = omit.map((kind) => `--omit=${kind}`);
  await run("npm", ["install", ...flags, ...left, ...packages], { cwd: draft });
  await rename(draft, folder);
}

/** @returns what the program prints */
async function tryClient({ name, language, program, baseUrl }, environment, urls) {
  const at = (url) => baseUrl.replace("ORIGIN", url);
  const file = path.join(here, name, program);
  const env = {
    ...ownEnvironment(),
    READY_PLAIN_URL: urls.main,
    READY_URL: at(urls.main),
    READY_FULL_URL: at(urls.full),
    READY_SLOW_URL: at(urls.slow),
    READY_KEY: KEY,
    TYPESAFE_BASE_URL: at(urls.main), // else its SDKs fall back to the hosted service
    READY_MODULES: language === "node" ? path.join(environment, "node_modules") : "",
    PYTHONPATH: here,
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const [command, args] = language === "python" ? [environment, [file]] : [process.execPath, [file]];
  const printed = await run(command, args, { env, timeout: PROGRAM_TIMEOUT_MS }).catch((cause) => {
    throw new Error(`${name}: ${cause.message}`, { cause });
  });
  return `${name}: ${printed}`;
}

/** Runs a program of the checkout. @returns its stdout @throws what it printed, if it does not end with 0 */
async function run(command, args, options = {}) {
  try {
    const { stdout } = await execute(command, args, { cwd: root, signal: interrupted.signal, ...options });
    return stdout;
  } catch (cause) {
    throw new Error(`${cause.message}\n${cause.stdout}`, { cause }); // the message has what went to stderr
  }
}

/** Only the given settings count, whatever the caller's environment holds; other hosts get nothing. */
function ownEnvironment() {
  const isForeign = (name) => /^(DECISION_|TYPESAFE_|COHERE_|CO_API|JINA_|GEMMADECISION_|READY_)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign(name)));
}

function spawnService(flags) {
  return spawn(
    process.execPath,
    ["bin/decision.js", "serve", "--port", "0", "--log-level", "error", ...flags],
    {
      cwd: root,
      env: { ...ownEnvironment(), DECISION_API_KEY: KEY },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
}

/** Where a service listens. It says so once it is ready. */
async function urlOf(service) {
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(START_TIMEOUT_MS)]);
  for await (const line of createInterface({ input: service.stdout, signal })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined && (await fetch(`${url}/ready`, { signal })).ok) return url;
  }
  throw new Error("a service did not become ready");
}

/**
 * Asks again as soon as it is answered or refused, for as long as the programs run; resolves when it no longer does.
 */
async function keepFull(url, signal) {
  const question = { type: "noul", instructions: "Does this wait?" };
  const body = JSON.stringify({ state: "Fills the queue.", questions: { question } });
  const headers = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
  try {
    while (!signal.aborted) {
      const answer = await fetch(`${url}/v1/systemone`, { method: "POST", headers, body, signal });
      await answer.arrayBuffer();
      if (answer.status === 503) await setTimeout(REFILL_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function stop(service) {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill();
  await new Promise((resolve) => service.once("exit", resolve));
}
