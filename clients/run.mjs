// In each language: generates a client from a running service's contract, compiles it, and runs its smoke program.
//
//     node clients/run.mjs                      every language
//     node clients/run.mjs --only typescript    one
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const KEY = "a-key-for-smoke-programs";
const START_TIMEOUT_MS = 60_000; // chosen: a start takes about a second

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(here);
const require = createRequire(import.meta.url);
const execute = promisify(execFile);
const languages = { typescript: tryTypescript, python: tryPython };

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());

try {
  await main();
} catch (error) {
  console.error(`clients: ${error.message}`);
  process.exitCode = 1;
}

async function main() {
  const names = chosenLanguages();
  if (names.includes("python")) await findPython();
  await run(process.execPath, ["scripts/build.mjs"]);
  const scratch = await mkdtemp(path.join(tmpdir(), "clients-"));
  const services = [spawnService({}), spawnService({ DECISION_API_KEY: KEY })];
  try {
    const [open, keyed] = await Promise.all(services.map(urlOf));
    for (const name of names) {
      process.stdout.write(
        await languages[name]({ document: `${open}/openapi.json`, scratch }, [open, keyed, KEY]),
      );
    }
  } finally {
    await Promise.all(services.map(stop));
    // after an interruption a program's own child may write a little longer
    await rm(scratch, { recursive: true, maxRetries: 10 });
  }
}

function chosenLanguages() {
  const options = { only: { type: "string", multiple: true, default: Object.keys(languages) } };
  const names = parseArgs({ options }).values.only;
  const unknown = names.find((name) => !Object.hasOwn(languages, name));
  if (unknown === undefined) return names;
  throw new Error(`--only takes ${Object.keys(languages).join(" or ")}, not ${unknown}`);
}

/** The generated Python uses enum.StrEnum, which 3.11 brought. */
async function findPython() {
  await run("python3", ["-c", "from enum import StrEnum"]).catch((cause) => {
    const message = "the Python client needs python3, 3.11 or newer; to leave it out: --only typescript";
    throw new Error(message, { cause });
  });
}

/** @returns what the smoke program prints */
async function tryTypescript({ document }, smokeArguments) {
  const folder = path.join(here, "typescript");
  const generated = path.join(folder, "generated"); // beside the program, for the compiler finds packages from there
  const manifest = require.resolve("openapi-typescript/package.json");
  const generator = path.join(path.dirname(manifest), require(manifest).bin["openapi-typescript"]);
  try {
    await run(process.execPath, [generator, document, "--output", path.join(generated, "schema.ts")]);
    await run(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", folder]);
    return await run(process.execPath, ["--import", "tsx", path.join(folder, "smoke.ts"), ...smokeArguments]);
  } finally {
    await rm(generated, { recursive: true, force: true });
  }
}

/** @returns what the smoke program prints */
async function tryPython({ document, scratch }, smokeArguments) {
  const folder = path.join(here, "python");
  const smoke = path.join(folder, "smoke.py");
  const venv = path.join(scratch, "venv");
  const bin = path.join(venv, "bin");
  const python = path.join(bin, "python");
  const env = {
    ...process.env,
    PATH: [bin, process.env.PATH].join(path.delimiter), // the generator formats its work with ruff
    PYTHONPATH: scratch,
    MYPYPATH: scratch,
    MYPY_CACHE_DIR: path.join(scratch, "mypy"),
  };
  await run("python3", ["-m", "venv", venv]);
  await run(python, [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--requirement",
    path.join(folder, "requirements.txt"),
  ]);
  const output = [
    "--meta",
    "none",
    "--output-path",
    path.join(scratch, "decision_client"),
    "--fail-on-warning",
  ];
  await run(path.join(bin, "openapi-python-client"), ["generate", "--url", document, ...output], env);
  await run(python, ["-m", "mypy", "--strict", "--follow-imports", "silent", smoke], env);
  return await run(python, [smoke, ...smokeArguments], env);
}

/** Runs a program of the checkout. @returns its stdout @throws what it printed, if it does not end with 0 */
async function run(command, args, env = process.env) {
  try {
    const { stdout } = await execute(command, args, { cwd: root, env, signal: interrupted.signal });
    return stdout;
  } catch (cause) {
    throw new Error(`${cause.message}\n${cause.stdout}`, { cause }); // the message has what went to stderr
  }
}

/** Only the given settings count, whatever the caller's environment holds. */
function spawnService(settings) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("DECISION_"));
  return spawn(process.execPath, ["bin/decision.js", "serve", "--port", "0"], {
    cwd: root,
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
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

async function stop(service) {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill();
  await new Promise((resolve) => service.once("exit", resolve));
}
