import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** Encodes lists of texts, and prints how many threads that has started in its process. */
const PROGRAM = `
  import { readdirSync, readFileSync } from "node:fs";
  import { readFile } from "node:fs/promises";
  import { LibraryEncoder } from "./src/inference/tokens/library-encoder.ts";
  const threads = () => readdirSync("/proc/self/task").length;
  const encoder = await LibraryEncoder.open(JSON.parse(readFileSync("model/tokenizer.json", "utf8")));
  const encode = (texts) => encoder.encodeParts(
    texts.map((text) => ({ text, maxTokens: 100 })),
    { maxTooMany: 1, signal: new AbortController().signal },
  );
  // starts the threads that Node.js itself has for files and for encoding
  await Promise.all(Array.from({ length: 16 }, () => readFile("package.json")));
  const before = threads();
  for (let round = 0; round < 20; round++)
    await encode(Array.from({ length: 8 }, (_, at) => "t\u00e9xt " + round + " of number " + at)); // the library encodes it whole
  console.log(threads() - before);
`;

const { TOKENIZERS_PARALLELISM: _, ...rest } = process.env;

async function threadsStarted(setting: string): Promise<number> {
  const env = { ...rest, TOKENIZERS_PARALLELISM: setting };
  const args = ["--import", "tsx", "--input-type=module", "--eval", PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return Number(stdout);
}

/** @returns the setting that a command runs with @param env that of its caller */
async function settingOfCommand(env: NodeJS.ProcessEnv): Promise<string> {
  const tell = "process.on('exit', () => console.error(process.env.TOKENIZERS_PARALLELISM))";
  const args = ["--import", `data:text/javascript,${tell}`, "bin/decision.js", "--version"];
  return (await promisify(execFile)(process.execPath, args, { env })).stderr.trim();
}

test("a command encodes without further threads, unless its environment asks for them", async () => {
  assert.equal(await settingOfCommand(rest), "false");
  assert.equal(await settingOfCommand({ ...rest, TOKENIZERS_PARALLELISM: "true" }), "true");
});

test("the setting of commands starts no threads", {
  skip: process.platform !== "linux" && "only Linux lists threads in /proc",
}, async () => {
  assert.equal(await threadsStarted("false"), 0);
  assert.ok((await threadsStarted("true")) > 0, "the control, with threads of the library");
});
