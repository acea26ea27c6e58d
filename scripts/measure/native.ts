/**
 * Tests the backend `native` on a device, then compares its speed there with `onnx` on the CPU.
 *
 *     npm ci && npm run build
 *     DECISION_PYTHON=... node --import tsx scripts/measure/native.ts --device cuda
 *
 *     [FOLDER ...] [--precision bf16] [--onnx-precision int8] [--max-batch-tokens 16384] [--callers 1,4,16,64]
 * [--seconds 5] [--rounds 5]
 *     [--words 120] [--no-tests] [--no-embedded] [--no-decoder]
 *
 * First the tests of `npm run check:native`. Then the embedded model (32M), a decoder of the shape of the 270M one with
 * random weights (540 MB in a temporary folder), and each package FOLDER. Each caller sends one request after another,
 * without HTTP. A request has a new state of --words words, a question and four candidates. The two sides alternate
 * every --seconds; a ratio compares two turns of one round. Only computed tokens count. The rate counts the
 * multiply-adds of the linear layers only, as two operations each. The device's rate is that of products of two large
 * matrices in the same precision.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ratios, spreadOf } from "../../bench/measure/statistics.ts";
import { Random } from "../../bench/random.ts";
import type { RenderedRequest } from "../../src/decisions/rendered.ts";
import { createEngine, type EngineCore } from "../../src/engine.ts";
import { openManifest } from "../../src/models/package/package.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { packageRoot } from "../../src/package-root.ts";
import { writeRandomDecoder } from "./native/random-decoder.ts";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: "string", default: "cpu" },
    precision: { type: "string", default: "auto" },
    "onnx-precision": { type: "string", default: "int8" },
    callers: { type: "string", default: "1,4,16,64" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "5" },
    words: { type: "string", default: "120" },
    "no-tests": { type: "boolean", default: false },
    "no-embedded": { type: "boolean", default: false },
    "no-decoder": { type: "boolean", default: false },
    "max-batch-tokens": { type: "string", default: "2048" },
  },
});

const WORDS =
  "the order arrived late and box was open we asked for a refund twice but nobody has answered our letter since monday please tell us what happens next with invoice card payment delivery number".split(
    " ",
  );

/** Results of one turn of a side. */
interface Turn {
  readonly requests: number; // a second
  readonly tokens: number; // a second
  readonly latencies: readonly number[]; // ms
}

const python = process.env.DECISION_PYTHON || "python3";
if (!flags["no-tests"]) {
  const env = { ...process.env, DECISION_PYTHON: python, DECISION_TEST_DEVICE: flags.device };
  execFileSync(process.execPath, [path.join(packageRoot, "scripts/checks/check-native.mjs")], {
    env,
    stdio: "inherit",
  });
}
console.log(
  `${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} hardware threads, Node ${process.version}`,
);
if (!flags["no-embedded"]) await measure(path.join(packageRoot, "model"));
if (!flags["no-decoder"]) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "random-decoder-"));
  try {
    await writeRandomDecoder(folder);
    await measure(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
for (const folder of positionals) await measure(folder);

async function measure(folder: string): Promise<void> {
  const { id } = await openManifest(folder);
  const perToken = 2 * (await linearWeights(folder));
  const given = { "model-path": folder, "max-batch-tokens": flags["max-batch-tokens"], "queue-size": "1024" };
  const sides = {
    onnx: await start({ ...given, precision: flags["onnx-precision"] }),
    native: await start({
      ...given,
      backend: "native",
      device: flags.device,
      precision: flags.precision,
    }),
  };
  try {
    for (const [name, engine] of Object.entries(sides)) {
      const { device, precision } = engine.health();
      const most = name === "native" ? `; ${productRate(device, precision)}` : "";
      console.log(`\n${id}, ${name}: ${device}, ${precision}${most}`);
      await turn(engine, 4, 1); // warm
    }
    for (const callers of flags.callers.split(",").map(Number)) {
      const turns: Record<keyof typeof sides, Turn[]> = { onnx: [], native: [] };
      for (let round = 0; round < Number(flags.rounds); round++) {
        const order = round % 2 === 0 ? (["onnx", "native"] as const) : (["native", "onnx"] as const);
        for (const name of order)
          turns[name].push(await turn(sides[name], callers, Number(flags.seconds), round));
      }
      report(callers, turns, perToken);
    }
  } finally {
    for (const engine of Object.values(sides)) await engine.close();
  }
}

async function start(given: Record<string, string>): Promise<EngineCore> {
  const engine = await createEngine(resolveOptions(given), (event, details) => console.error(event, details));
  try {
    await engine.start();
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

/** Name of the device, and its operations per second in products of large matrices. */
function productRate(device: string, precision: string): string {
  const program = `
import sys, time, torch
device, dtype = torch.device(sys.argv[1]), {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[sys.argv[2]]
size = 1024 if device.type == "cpu" else 8192
a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
wait = {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}.get(device.type, lambda: None)
best = 0
for _ in range(20):
    wait()
    began = time.perf_counter()
    a @ b
    wait()
    best = max(best, 2 * size**3 / (time.perf_counter() - began))
name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
print(f"{name}, PyTorch {torch.__version__}, matrix products {best / 1e9:.0f} Gflop/s")
`;
  return execFileSync(python, ["-c", program, device, precision], { encoding: "utf8" }).trim();
}

async function turn(engine: EngineCore, callers: number, seconds: number, seed = 0): Promise<Turn> {
  const latencies: number[] = [];
  let tokens = 0;
  engine.onBatch((batch) => {
    tokens += batch.tokens; // computed tokens: shared ones count once
  });
  const startedAt = performance.now();
  const end = startedAt + seconds * 1000;
  const ask = async (caller: number) => {
    const random = new Random(seed, `caller ${caller}`);
    while (performance.now() < end) {
      const askedAt = performance.now();
      await engine.score(requestOf(random), new AbortController().signal);
      latencies.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => ask(caller)));
  const took = (performance.now() - startedAt) / 1000;
  return { requests: latencies.length / took, tokens: tokens / took, latencies };
}

function requestOf(random: Random): RenderedRequest {
  const text = (words: number) =>
    Array.from({ length: words }, () => WORDS[random.between(0, WORDS.length - 1)]).join(" ");
  return {
    state: { text: text(Number(flags.words)), loc: ["body", "state"] },
    questions: [
      {
        question: { text: text(12), loc: ["body", "questions", "q", "instructions"] },
        candidates: Array.from({ length: 4 }, (_, index) => ({
          text: text(6),
          label: `${index}`,
          loc: ["body", "questions", "q", "criteria", index],
        })),
      },
    ],
  };
}

function report(callers: number, turns: Readonly<Record<string, readonly Turn[]>>, perToken: number): void {
  console.log(`\n${callers} ${callers === 1 ? "caller" : "callers"}`);
  for (const [name, all] of Object.entries(turns)) {
    const rates = spreadOf(all.map(({ requests }) => requests));
    const tokens = spreadOf(all.map((each) => each.tokens)).median;
    const latencies = all.flatMap((each) => each.latencies).sort((a, b) => a - b);
    const at = (share: number) => (latencies[Math.floor(share * (latencies.length - 1))] ?? 0).toFixed(1);
    console.log(
      `  ${name.padEnd(7)} ${rates.median.toFixed(1)} requests/s (${rates.q1.toFixed(1)} .. ${rates.q3.toFixed(1)}), ` +
        `${tokens.toFixed(0)} tokens/s, latency ${at(0.5)} ms (p95 ${at(0.95)}), ${((tokens * perToken) / 1e9).toFixed(1)} Gflop/s`,
    );
  }
  const [onnx = [], native = []] = [turns.onnx, turns.native];
  const ratio = spreadOf(
    ratios(
      native.map(({ requests }) => requests),
      onnx.map(({ requests }) => requests),
    ),
  );
  console.log(
    `  native / onnx ${ratio.median.toFixed(2)} (${ratio.q1.toFixed(2)} .. ${ratio.q3.toFixed(2)})`,
  );
}

/** Number of weights in the layers' matrices: multiply-adds per token. */
async function linearWeights(folder: string): Promise<number> {
  const { architecture } = await openManifest(folder);
  if (architecture.type === "bert-token-tree") {
    const { layers, hidden, inner } = architecture;
    return layers * hidden * (4 * hidden + 2 * inner);
  }
  const config = JSON.parse(await readFile(path.join(folder, "config.json"), "utf8"));
  const { hidden_size: hidden, intermediate_size: inner, head_dim: size } = config;
  const heads = 2 * config.num_attention_heads + 2 * config.num_key_value_heads;
  return config.num_hidden_layers * hidden * (heads * size + 3 * inner);
}
