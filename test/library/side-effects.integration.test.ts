import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { packageRoot } from "../support/package-root.ts";

const LIBRARY = pathToFileURL(path.join(packageRoot, "dist/src/library/index.js")).href;

/** What a program shares with all that it imports. Values of Node.js that are made when first read have been read before. */
const STATE = `
  import { EventEmitter } from "node:events";
  const namesOf = (object) => Reflect.ownKeys(object).map(String).sort();
  function state() {
    return {
      env: { ...process.env },
      listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
      methods: Object.entries(process).filter(([, value]) => typeof value === "function"),
      globals: namesOf(globalThis),
      functions: namesOf(globalThis).map((name) => globalThis[name]).filter((value) => typeof value === "function"),
      prototypes: [Object, Array, Map, Promise, String, EventEmitter].map(({ prototype }) => namesOf(prototype)),
      folder: process.cwd(),
      title: process.title,
      exitCode: process.exitCode,
      umask: process.umask(),
      trace: Error.stackTraceLimit,
      emitters: EventEmitter.defaultMaxListeners,
    };
  }
`;

/** Runs a program with the state before and after. */
async function run(program: string): Promise<void> {
  const compared = `
    import assert from "node:assert/strict";
    ${STATE}
    await fetch("data:,"); // creates what Node.js creates at the first use
    const before = state();
    ${program}
    assert.deepStrictEqual(state(), before);
  `;
  const { TOKENIZERS_PARALLELISM: _, NODE_OPTIONS: __, ...env } = process.env;
  const folder = await mkdtemp(path.join(tmpdir(), "side-effects-"));
  const file = path.join(folder, "program.mjs"); // with --eval, Node.js adds its modules to the globals
  try {
    await writeFile(file, compared);
    await promisify(execFile)(process.execPath, [file], { env });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("importing and using the library changes nothing of the program", async () => {
  await run(`
    const { checkRequest, connectDecider, dryRun } = await import(${JSON.stringify(LIBRARY)});
    assert.deepStrictEqual(state(), before, "after the import");
    const body = JSON.stringify({ state: "a", questions: { q: { type: "noul", instructions: "b" } } });
    await checkRequest("systemone", body);
    assert.match(await dryRun(body), /"tokens"/);
    await connectDecider("http://127.0.0.1:26001").close();
  `);
});

for (const [what, change] of [
  ["a variable", "process.env.CHANGED = '1'"],
  ["a method of the process", "process.emitWarning = () => {}"],
  ["a listener", "process.on('SIGTERM', () => {})"],
  ["a global", "globalThis[Symbol.for('changed')] = 1"],
] as const)
  test(`the comparison notices ${what} that changes`, async () => {
    await assert.rejects(run(change), /ERR_ASSERTION/);
  });
