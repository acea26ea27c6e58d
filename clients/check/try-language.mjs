// One language: the README's lines in an empty folder, then the language's long program beside the same client.
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { languages } from "./languages.mjs";
import { answeredOperations, unansweredOperations } from "./operations.mjs";
import { root, run } from "./run-command.mjs";

/** The address in the README; the services of the check listen on others. */
const DOCUMENTED_URL = "http://127.0.0.1:8700";

/** What every program of the README prints: it is one question, and the embedded model answers it the same way. */
const ANSWER = /^refund (?:0\.\d{3}|1\.000)$/m;

/** What every long program prints last; tools may print more. */
const REPORT = /^\w+: [1-9]\d* checks passed$/m;

/**
 * @param name the language's name in `languages`
 * @param steps what the README says, see `stepsOf`
 * @param folder does not exist yet
 * @param services `open`, `keyed` and `full` are URLs; `key` is the key of `keyed`
 * @param document the contract, parsed
 * @returns what to print
 * @throws with what was printed, if anything fails
 */
export async function tryLanguage(name, steps, folder, services, document) {
  const { given = [], environment = () => ({}), commands } = languages[name];
  const source = path.join(root, "clients", name);
  const env = { ...process.env, ...environment(folder) };
  await mkdir(folder);
  for (const file of given) await cp(path.join(source, file), path.join(folder, file));

  const seconds = stopwatch();
  const printed = await followReadme(steps, folder, env, services.open);
  if (!ANSWER.test(printed)) {
    throw new Error(`${name}: the README's program printed no line like "refund 0.999":\n${printed}`);
  }
  const followed = seconds();

  await cp(source, folder, { recursive: true });
  const before = await answeredOperations(services.open);
  let last = "";
  for (const [command, ...args] of commands(services)) last = await run(command, args, { folder, env });
  const [report] = REPORT.exec(last) ?? [];
  if (report === undefined) throw new Error(`${name}: the long program tells of no checks:\n${last}`);
  const unanswered = unansweredOperations(document, before, await answeredOperations(services.open));
  if (unanswered.length > 0)
    throw new Error(`${name}: the long program never asked ${unanswered.join(", ")}`);
  return `${report} (README ${followed} s, in all ${seconds()} s)\n`;
}

/** In one shell, as a reader would, so that a virtual environment stays active. @returns what was printed */
async function followReadme(steps, folder, env, url) {
  const lines = [];
  for (const [place, { command, file, text }] of steps.entries()) {
    if (command !== undefined) lines.push(command.replaceAll(DOCUMENTED_URL, url));
    else {
      const saved = path.join(path.dirname(folder), `${path.basename(folder)}-${place}`);
      await writeFile(saved, text.replaceAll(DOCUMENTED_URL, url));
      lines.push(`mkdir -p '${path.dirname(file)}' && cp '${saved}' '${file}'\n`);
    }
  }
  return await run("bash", ["-euc", lines.join("")], { folder, env });
}

/** @returns a function that tells the seconds since this call, with one decimal */
function stopwatch() {
  const start = performance.now();
  return () => ((performance.now() - start) / 1000).toFixed(1);
}
