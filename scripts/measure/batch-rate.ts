/**
 * Compares the rate of `decision batch` with the saturated rate of the engine for the same rows. One side reads the
 * rows, answers them through the library and writes them to a file. The other passes rendered texts to the engine from
 * 16 callers. The sides alternate on one engine, with new states each time.
 *
 *     npm run build
 *     node --import tsx scripts/measure/batch-rate.ts [--rounds 7] [--rows 300] [--tokens 60]
 */
import { setMaxListeners } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { median, ratios, spreadOf } from "../../bench/measure/statistics.ts";
import { Random } from "../../bench/random.ts";
import { RequestReader } from "../../bench/workloads/reader.ts";
import { textOf } from "../../bench/workloads/texts.ts";
import { createContractFor } from "../../src/app.ts";
import { runBatch } from "../../src/batch/batch.ts";
import { jsonlRows } from "../../src/batch/jsonl-rows.ts";
import { JSONL } from "../../src/batch/output-format.ts";
import { createEngine } from "../../src/engine.ts";
import { readJson } from "../../src/json/read.ts";
import { isJsonObject } from "../../src/json/value.ts";
import { openDecider } from "../../src/library/deciders/local-decider.ts";
import { completeOptions } from "../../src/options/resolve.ts";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    rows: { type: "string", default: "300" },
    tokens: { type: "string", default: "60" },
  },
});
const CALLERS = 16;
const QUESTIONS = `{"intent":{"type":"choice","instructions":"What does the customer want?","criteria":{"refund":"Wants money back for a charge","cancel":"Wants to end a subscription","technical":"Reports a technical fault"}},
"angry":{"type":"noul","instructions":"The customer is angry."},"urgency":{"type":"score","instructions":"How urgent is this?","criteria":["can wait","this week","today"]}}`;

const questions = await readJson(Buffer.from(QUESTIONS));
if (!isJsonObject(questions)) throw new Error("the questions are an object");
const random = new Random(1);
const states = () => Array.from({ length: Number(flags.rows) }, () => textOf(random, Number(flags.tokens)));

const options = completeOptions({});
const engine = await createEngine(options);
await engine.start();
const decider = openDecider({ engine, contract: await createContractFor(engine), options });
const reader = await RequestReader.open(engine.model);
const folder = await mkdtemp(path.join(tmpdir(), "batch-rate-"));

/** Rows per second. */
async function engineRate(): Promise<number> {
  const requests = await Promise.all(
    states().map((state) =>
      reader.read({
        operation: "systemone",
        body: `{"state":${JSON.stringify(state)},"questions":${QUESTIONS}}`,
      }),
    ),
  );
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // every request in progress adds a listener
  const startedAt = performance.now();
  let next = 0;
  const caller = async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++])
      await engine.score(request, signal);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (1000 * requests.length) / (performance.now() - startedAt);
}

async function batchRate(): Promise<number> {
  const input = states().map((state) => `${JSON.stringify({ state })}\n`);
  const file = await open(path.join(folder, "answers.jsonl"), "w");
  const startedAt = performance.now();
  const { rows, errors } = await runBatch({
    rows: jsonlRows(
      (async function* () {
        yield Buffer.from(input.join(""));
      })(),
      { field: "state" },
    ),
    questions: questions as Extract<typeof questions, ReadonlyMap<string, unknown>>,
    ask: (body) => decider.ask("systemone", body),
    wait: () => Promise.reject(new Error("the queue cannot be full here")),
    doneRows: 0,
    isBegun: false,
    format: JSONL,
    write: (text) => file.appendFile(text),
    onProgress: () => {},
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await file.close();
  if (errors > 0 || rows !== input.length) throw new Error(`${errors} of ${rows} rows have errors`);
  return rows / seconds;
}

try {
  await engineRate();
  await batchRate(); // warm-up
  const batch: number[] = [];
  const alone: number[] = [];
  for (let round = 0; round < Number(flags.rounds); round++) {
    alone.push(await engineRate());
    batch.push(await batchRate());
  }
  const shares = ratios(batch, alone);
  console.log(`engine, ${CALLERS} callers: ${median(alone).toFixed(0)} rows/s`);
  console.log(`batch: ${median(batch).toFixed(0)} rows/s`);
  console.log("batch / engine:", spreadOf(shares));
} finally {
  await decider.close();
  await rm(folder, { recursive: true });
}
