/**
 * Measures one service (the edge) of `--backend remote` over 1, 2 and 4 engine processes, each an inference server with
 * one thread.
 *
 *     npm run build
 *     node --import tsx scripts/measure/remote-edge.ts [--engines 1,2,4] [--rounds 7] [--seconds 5] [--callers 32]
 * [--words 60]
 *                                                      [--stand-in MICROSECONDS]
 *
 * Each caller sends one request after another over HTTP, always with a new state. The engines are behind one address,
 * and connections are assigned to them in turn. The edges alternate every --seconds; a ratio compares two turns of one
 * round. The edge's processor time per request (Linux) shows where it would become the bottleneck. Engines, edge and
 * callers share the machine and need a processor each. With fewer processors, `--stand-in` shows the edge's own limit:
 * engines that compute nothing, sleep so long per token, one forward at a time, and return scores of 0.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startServer } from "../../bench/http/server-process.ts";
import { median, ratios, spreadOf } from "../../bench/measure/statistics.ts";
import { Random } from "../../bench/random.ts";
import { textOf } from "../../bench/workloads/texts.ts";
import { JSON_LENGTH } from "../../src/backends/remote/protocol.ts";
import { type WholeGraph, wholeGraph, writeWholeGraph } from "../../src/models/graph/whole-graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { completeOptions } from "../../src/options/resolve.ts";
import { packageRoot } from "../../src/package-root.ts";
import { balance } from "../../test/support/balance.ts";
import { type Misbehaviour, serveGraph } from "../../test/support/inference-server.ts";

const { values: flags } = parseArgs({
  options: {
    engines: { type: "string", default: "1,2,4" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "5" },
    callers: { type: "string", default: "32" },
    words: { type: "string", default: "60" },
    "stand-in": { type: "string" },
    /** Graph of the engine processes that this program starts. */
    graph: { type: "string" },
  },
});
/** Concurrent forwards per engine: one computes while the next is in transit. */
const CONNECTIONS = 2;
/** Clock ticks per second in /proc. @see proc_pid_stat(5) */
const TICKS_A_SECOND = 100;
/** Scores that a stand-in returns: more than a forward has pairs. */
const MOST_PAIRS = 512;
const QUESTIONS = {
  intent: {
    type: "choice",
    instructions: "What does the customer want?",
    criteria: { refund: "Wants money back for a charge", technical: "Reports a technical fault" },
  },
  angry: { type: "noul", instructions: "The customer is angry." },
};
const modelPackage = await openModelPackage(path.join(packageRoot, "model"));

if (flags.graph === undefined) await measure();
else {
  const graph = await wholeGraph(modelPackage, "int8");
  const how = flags["stand-in"] === undefined ? {} : standIn(Number(flags["stand-in"]), graph);
  const { port } = await serveGraph(flags.graph, graph, how);
  process.send?.(port);
  process.on("disconnect", () => process.exit());
}

/** @param microseconds per token */
function standIn(microseconds: number, { digest }: WholeGraph): Misbehaviour {
  const scores = new Uint8Array(4 * MOST_PAIRS);
  const outputs = [
    { name: "scores", datatype: "FP32", shape: [MOST_PAIRS], bytes: scores },
    { name: "digest", datatype: "UINT8", shape: [digest.length], bytes: digest },
  ];
  const described = outputs.map(({ bytes, ...rest }) => {
    return { ...rest, parameters: { binary_data_size: bytes.length } };
  });
  const json = Buffer.from(JSON.stringify({ outputs: described }));
  const answer = Buffer.concat([json, ...outputs.map(({ bytes }) => bytes)]);
  let freeAt = 0;
  return {
    async infer(_count, response, { inputs }) {
      const tokens = inputs.find(({ name }) => name === "ids")?.shape[0] ?? 0;
      freeAt = Math.max(freeAt, performance.now()) + (tokens * microseconds) / 1_000;
      await sleep(freeAt - performance.now());
      response.writeHead(200, { [JSON_LENGTH]: json.length }).end(answer);
      return true;
    },
  };
}

interface Edge {
  readonly engines: number;
  readonly url: string;
  readonly pid: number;
  readonly rates: number[];
  readonly cpuMs: number[];
  close(): Promise<void>;
}

async function measure(): Promise<void> {
  const counts = flags.engines.split(",").map(Number);
  const folder = await mkdtemp(path.join(tmpdir(), "remote-edge-"));
  const engines: ChildProcess[] = [];
  const edges: Edge[] = [];
  try {
    await writeWholeGraph(modelPackage, "u8u8", folder);
    const ports: number[] = [];
    for (let at = 0; at < Math.max(...counts); at++) {
      const same = flags["stand-in"] === undefined ? [] : ["--stand-in", flags["stand-in"]];
      const args = ["--graph", path.join(folder, "model.onnx"), ...same];
      const engine = fork(fileURLToPath(import.meta.url), args);
      engines.push(engine);
      const [port] = await once(engine, "message");
      ports.push(port);
    }
    for (const count of counts) edges.push(await openEdge(ports.slice(0, count)));
    const random = new Random(1);
    for (const edge of edges) await turn(edge, random, 1_000); // warm-up
    for (let round = 0; round < Number(flags.rounds); round++)
      for (const edge of edges) {
        const { rate, cpuMs } = await turn(edge, random, 1_000 * Number(flags.seconds));
        edge.rates.push(rate);
        edge.cpuMs.push(cpuMs);
      }
    report(edges);
  } finally {
    await Promise.all(edges.map((edge) => edge.close()));
    for (const engine of engines) engine.disconnect();
    await rm(folder, { recursive: true });
  }
}

async function openEdge(ports: readonly number[]): Promise<Edge> {
  const balancer = await balance(ports);
  const server = await startServer(
    completeOptions({
      port: 0,
      backend: "remote",
      remoteUrl: balancer.url,
      remoteModel: "decision",
      remoteConnections: CONNECTIONS * ports.length,
    }),
  );
  return {
    engines: ports.length,
    url: server.url,
    pid: server.pid,
    rates: [],
    cpuMs: [],
    async close() {
      await server.close();
      await balancer.close();
    },
  };
}

/** Requests per second, and the edge's processor time per request in milliseconds. */
async function turn({ url, pid }: Edge, random: Random, ms: number) {
  const startedAt = performance.now();
  const cpuBefore = await cpuSeconds(pid);
  let answered = 0;
  const caller = async () => {
    while (performance.now() - startedAt < ms) {
      const body = JSON.stringify({ state: textOf(random, Number(flags.words)), questions: QUESTIONS });
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${url}/v1/systemone`, { method: "POST", headers, body });
      if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: Number(flags.callers) }, caller));
  const rate = (1_000 * answered) / (performance.now() - startedAt);
  return { rate, cpuMs: (1_000 * ((await cpuSeconds(pid)) - cpuBefore)) / answered };
}

/** Processor seconds of a process; NaN without /proc. */
async function cpuSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN)) / TICKS_A_SECOND;
}

function report(edges: readonly Edge[]): void {
  const [first] = edges;
  for (const { engines, rates, cpuMs } of edges) {
    console.log(
      `${engines} engines: ${median(rates).toFixed(0)} requests/s, edge ${median(cpuMs).toFixed(2)} ms of CPU per request`,
    );
    if (first !== undefined && first.engines !== engines)
      console.log(`  rate / rate of ${first.engines}:`, spreadOf(ratios(rates, first.rates)));
  }
}
