/**
 * Measures a causal model package against the same weights computed pair by pair.
 *
 *     npm run build
 *     node --import tsx scripts/measure/joint-bench.ts FOLDER [EXPORT] [--minutes 3] [--speed-only] [--tokens 29]
 *
 * FOLDER is a package of type gemma3-text-joint, EXPORT one of type onnx-joint-pairs with the same weights, as
 * test/golden/gemma3/full_size.py writes them. Linux only: memory is read from /proc. The sides alternate, and a ratio
 * compares two sides of one round.
 *
 * - start: from the start of the process to ready, the first time (the graph is written) and with the graph in the
 * cache; - memory of both processes: the maximum until ready, and when ready; `shared` is memory-mapped files, which
 * the system can drop; - speed: new states each time, no cache. `pair by pair` is the same graph with each pair
 * computed alone, `export` the graph of EXPORT.
 */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { listProcesses } from "../../bench/http/resident-memory.ts";
import { startServer } from "../../bench/http/server-process.ts";
import { interleave } from "../../bench/measure/rounds.ts";
import { ratios, spreadOf } from "../../bench/measure/statistics.ts";
import { Random } from "../../bench/random.ts";
import { startOnnxProcess } from "../../src/backends/onnx/process/onnx-process.ts";
import { cpuCount } from "../../src/backends/onnx/runtime/cpu-count.ts";
import { ChildBackend } from "../../src/backends/process/child-backend.ts";
import { systemClock } from "../../src/inference/clock.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
import type { Precision } from "../../src/models/graph/graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { resolveOptions } from "../../src/options/resolve.ts";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "3" },
    "speed-only": { type: "boolean", default: false },
    tokens: { type: "string" },
  },
});
const [folder, exported] = positionals;
assert.ok(folder, "expected the folder of a package");

const PRECISIONS: readonly Precision[] = ["fp32", "int8"];
/** Tokens of state, question and candidate. Their sum is the length of a pair. */
const WORKLOADS = [
  { pairs: 2, lengths: [12, 11, 6] },
  { pairs: 4, lengths: [88, 24, 16] },
  { pairs: 4, lengths: [448, 40, 24] },
] as const;

const lengthOf = (lengths: readonly number[]) => lengths.reduce((sum, length) => sum + length, 0);
const workloads = WORKLOADS.filter(({ lengths }) =>
  [undefined, `${lengthOf(lengths)}`].includes(flags.tokens),
);

const cache = await mkdtemp(path.join(tmpdir(), "joint-bench-"));
process.env.XDG_CACHE_HOME = cache;
try {
  console.log(`package: ${mib(await sizeOf(folder))} MiB`);
  if (!flags["speed-only"]) for (const precision of PRECISIONS) await measureStarts(folder, precision);
  await measureSpeed(folder);
} finally {
  await rm(cache, { recursive: true });
}

async function measureStarts(modelPath: string, precision: Precision): Promise<void> {
  const before = await sizeOf(cache);
  for (const which of ["first", "cached", "cached"]) {
    const options = resolveOptions({ "model-path": modelPath, precision });
    const server = await startServer(options);
    try {
      const ready = await memoryOf(server.pid);
      const off = await checkScores(server.url, modelPath);
      console.log(
        `${precision} start, ${which}: ${(server.readyMs / 1000).toFixed(1)} s, ${ready}; scores off by ${off}`,
      );
    } finally {
      await server.close();
    }
  }
  console.log(`${precision} graph on disk: ${mib((await sizeOf(cache)) - before)} MiB`);
}

/** Maximum difference from the package's golden scores. */
async function checkScores(url: string, modelPath: string): Promise<string> {
  const { decisions } = JSON.parse(await readFile(path.join(modelPath, "golden.json"), "utf8"));
  let worst = 0;
  for (const { state, question, candidates, scores, sent } of decisions) {
    if (sent !== undefined) continue; // leaves out the texts
    const criteria = Object.fromEntries(candidates.map((text: string, i: number) => [`label ${i}`, text]));
    const body = { state, questions: { q: { type: "choice", instructions: question, criteria } } };
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${url}/v1/systemone`, { method: "POST", headers, body: JSON.stringify(body) });
    const { answers } = JSON.parse(await reply.text());
    const came: number[] = Object.values(answers.q.scores);
    for (const [i, score] of came.entries()) worst = Math.max(worst, Math.abs(score - scores[i]));
  }
  return worst.toExponential(1);
}

async function measureSpeed(modelPath: string): Promise<void> {
  const config = JSON.parse(await readFile(path.join(modelPath, "config.json"), "utf8"));
  const vocabulary = Number(config.vocab_size);
  const backends = new Map<string, ChildBackend>();
  try {
    for (const precision of PRECISIONS) backends.set(precision, await openBackend(modelPath, precision));
    if (exported !== undefined) backends.set("export", await openBackend(exported, "fp32"));
    for (const [i, { pairs, lengths }] of workloads.entries()) {
      const random = new Random(i, "joint-bench");
      const forests = Array.from({ length: 64 }, () => makeTree(random, vocabulary, pairs, lengths));
      const timed = (name: string, isWhole: boolean) => async (round: number) => {
        const backend = backends.get(name);
        const tree = forests[round % forests.length];
        assert.ok(backend !== undefined && tree !== undefined);
        const calls = isWhole ? [tree] : pairsOf(tree);
        const startedAt = performance.now();
        for (const call of calls) await backend.score([call]);
        return performance.now() - startedAt;
      };
      const arms: Record<string, (round: number) => Promise<number>> = {};
      for (const precision of PRECISIONS) {
        arms[precision] = timed(precision, true);
        arms[`${precision} pair by pair`] = timed(precision, false);
      }
      if (exported !== undefined) arms.export = timed("export", true);
      for (const arm of Object.values(arms)) for (let round = 0; round < 3; round++) await arm(63 - round);
      const budgetMs = (Number(flags.minutes) * 60_000) / workloads.length;
      const { signal } = new AbortController();
      report(pairs, lengths, await interleave(arms, { rounds: 60, budgetMs, signal }));
    }
  } finally {
    for (const backend of backends.values()) await backend.close();
  }
}

function report(pairs: number, lengths: readonly number[], times: Record<string, number[]>): void {
  console.log(
    `\n${pairs} x ${lengthOf(lengths)} tokens (${lengths.join(" + ")}), ${times.fp32?.length} turns`,
  );
  for (const [name, values] of Object.entries(times)) {
    const { median, q1, q3, min } = spreadOf(values);
    const line = `${median.toFixed(1)} ms (${q1.toFixed(1)} .. ${q3.toFixed(1)}, least ${min.toFixed(1)})`;
    const beside = name.includes(" ") || name === "export" ? PRECISIONS : [];
    const faster = beside.map((ours) => {
      const ratio = spreadOf(ratios(values, times[ours] ?? []));
      return `${ours} ${ratio.median.toFixed(2)}x (${ratio.q1.toFixed(2)} .. ${ratio.q3.toFixed(2)})`;
    });
    console.log(
      `  ${name.padEnd(18)} ${line}${faster.length > 0 ? `; against it, ${faster.join(", ")}` : ""}`,
    );
  }
}

async function openBackend(modelPath: string, precision: Precision): Promise<ChildBackend> {
  const backend = new ChildBackend({
    modelPackage: await openModelPackage(modelPath),
    startProcess: () => startOnnxProcess(precision),
    threads: cpuCount(),
    stateCacheBytes: 0,
    loadMs: 600_000,
    hangMs: 600_000,
    clock: systemClock,
    log: () => {},
  });
  await backend.start();
  return backend;
}

function makeTree(
  random: Random,
  vocabulary: number,
  pairs: number,
  [state, question, candidate]: readonly [number, number, number],
): TokenTree {
  const ids = (length: number) => Int32Array.from({ length }, () => random.between(300, vocabulary - 1));
  const candidates = Array.from({ length: pairs }, () => ids(candidate));
  return { state: ids(state), questions: [{ tokens: ids(question), candidates }] };
}

/** Splits a tree into pairs that share nothing. */
function pairsOf({ state, questions }: TokenTree): readonly TokenTree[] {
  return questions.flatMap(({ tokens, candidates }) =>
    candidates.map((candidate) => ({ state, questions: [{ tokens, candidates: [candidate] }] })),
  );
}

async function memoryOf(pid: number): Promise<string> {
  const parts: string[] = [];
  const inference = listProcesses().find(({ parent }) => parent === pid)?.pid;
  for (const [name, each] of Object.entries({ service: pid, inference })) {
    const status = await readFile(`/proc/${each}/status`, "utf8");
    const field = (what: string) =>
      Number(new RegExp(`^${what}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) * 1024;
    const text = `at most ${mib(field("VmHWM"))}, now ${mib(field("RssAnon"))} + ${mib(field("RssFile"))} shared MiB`;
    parts.push(`${name} ${text}`);
  }
  return parts.join("; ");
}

async function sizeOf(where: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(where, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += (await stat(path.join(entry.parentPath, entry.name))).size;
  }
  return sum;
}

function mib(bytes: number): string {
  return Math.round(bytes / 2 ** 20).toString();
}
