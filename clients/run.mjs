// Does in each language what README.md tells its users to do, word for word: generates a client from the committed
// contract, compiles it and asks a running service. Then compiles and runs the language's long program, which calls
// every operation and meets every error.
//
//     node clients/run.mjs              the quick languages
//     node clients/run.mjs --all        every language
//     node clients/run.mjs --only go    one language; repeatable
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { languages } from "./check/languages.mjs";
import { stepsOf } from "./check/readme.mjs";
import { interrupted, root, run } from "./check/run-command.mjs";
import { startFullService, startService } from "./check/services.mjs";
import { tryLanguage } from "./check/try-language.mjs";

const KEY = "a-key-for-smoke-programs";

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());

try {
  await main();
} catch (error) {
  console.error(`clients: ${error.message}`);
  process.exitCode = 1;
}

async function main() {
  const names = chosenLanguages();
  const readme = await readFile(path.join(root, "clients", "README.md"), "utf8");
  const plans = names.map((name) => ({ name, steps: stepsOf(readme, languages[name].heading) }));
  await run(process.execPath, ["scripts/build.mjs"], { folder: root });
  const scratch = await mkdtemp(path.join(tmpdir(), "clients-"));
  const services = [];
  const started = async (starting) => services[services.push(await starting) - 1];
  try {
    // one after the other: a model that loads beside two others on a busy machine takes too long
    const open = await started(startService());
    const keyed = await started(startService({ DECISION_API_KEY: KEY }));
    const full = await started(startFullService());
    const document = await checkedDocument(open.url);
    for (const { name, steps } of plans) {
      const folder = path.join(scratch, name);
      const urls = { open: open.url, keyed: keyed.url, full: full.url };
      process.stdout.write(await tryLanguage(name, steps, folder, { ...urls, key: KEY }, document));
    }
  } finally {
    await Promise.all(services.map(({ stop }) => stop()));
    // after an interruption a program's own child may write a little longer
    await rm(scratch, { recursive: true, maxRetries: 10 });
  }
}

/** The names of the languages to try. @throws if an argument is none of them */
function chosenLanguages() {
  const options = { only: { type: "string", multiple: true, default: [] }, all: { type: "boolean" } };
  const { only, all } = parseArgs({ options }).values;
  const known = Object.keys(languages);
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`--only takes ${known.join(", ")}; got ${unknown}`);
  if (only.length > 0) return only;
  return all ? known : known.filter((name) => languages[name].quick);
}

/** The README's users generate from what the service serves: it must be the committed contract, but for its address. */
async function checkedDocument(url) {
  const served = await (await fetch(`${url}/openapi.json`)).json();
  const committed = JSON.parse(await readFile(path.join(root, "generated", "openapi.json"), "utf8"));
  if (isDeepStrictEqual({ ...served, servers: null }, { ...committed, servers: null })) return committed;
  throw new Error("the service serves another contract than generated/openapi.json");
}
