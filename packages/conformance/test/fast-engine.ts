import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import type { Tuning } from "../../../src/decisions/tuning.ts";
import type { Backend, BatchScores } from "../../../src/inference/backend.ts";
import { systemClock } from "../../../src/inference/clock.ts";
import { EngineCore } from "../../../src/inference/engine-core.ts";
import { type Node, pathOf, stateOf } from "../../../src/inference/nodes.ts";
import type { EngineSettings } from "../../../src/inference/queue/scheduler.ts";
import type { PartTokenizer } from "../../../src/inference/tokens/part-plan.ts";
import { openParts } from "../../../src/models/architectures/bert-token-tree/tokenizer.ts";
import { packageRoot } from "../../../test/support/package-root.ts";

/** Small enough to be filled by the flood of the checks. */
const QUEUE_CAPACITY = 24;
/** Requests with more pairs take some time. Otherwise a client in the same process could not fill the queue. */
const QUICK_PAIRS = 40;
const SLOW_MS = 30;
export const MODEL_ID = `test/Fast-1M@${"0123456789".repeat(4)}`;

/** Scores a pair by a hash of its tokens, so that scores depend on the pair only and equal tokens tie. */
class HashBackend implements Backend {
  readonly #vectorSize: number;
  readonly #beforeForest: (() => Promise<void>) | undefined;
  readonly isReady = true;
  readonly isExpected = true;
  /** @param vectorSize numbers of a pair's vector; 0: it gives none */
  constructor(vectorSize: number, beforeForest?: () => Promise<void>) {
    this.#vectorSize = vectorSize;
    this.#beforeForest = beforeForest;
  }

  /** It always is. */
  onReady(): void {}
  async start(): Promise<void> {}
  async close(): Promise<void> {}

  async score(leaves: readonly Node[]): Promise<BatchScores> {
    await this.#beforeForest?.();
    await (leaves.length > QUICK_PAIRS ? sleep(SLOW_MS) : turn());
    const scores = leaves.map((leaf) =>
      spread(pathOf(leaf).reduce((seed, { tokens }) => hash(tokens, seed), 0x811c9dc5)),
    );
    const size = this.#vectorSize;
    const vectors = Float32Array.from({ length: scores.length * size }, (_, i) =>
      Math.fround((scores[Math.floor(i / size)] ?? 0) / (1 + (i % size))),
    );
    const forwards = new Set(leaves.map(stateOf)).size;
    return { scores: Float32Array.from(scores), forwards, ...(size > 0 && { vectors }) };
  }
}

/** FNV-1a over token ids. */
function hash(tokens: Int32Array, seed: number): number {
  let value = seed;
  for (const token of tokens) value = Math.imul(value ^ token, 0x01000193) >>> 0;
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) >>> 0;
}

/** To -10 .. 10, as models' scores are. */
function spread(value: number): number {
  return Math.fround((value / 2 ** 32) * 20 - 10);
}

let tokenizer: PartTokenizer | undefined;

type Limits = { readonly maxStateQuestionTokens: number; readonly maxCandidateTokens: number };
const LIMITS: Limits = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };

export interface FastEngineParts {
  readonly tuning?: Tuning;
  readonly vectorSize?: number;
  readonly settings?: Partial<EngineSettings>;
  readonly limits?: Limits;
  /** Awaited before each forest is scored. */
  readonly beforeForest?: () => Promise<void>;
}

/** The real queue, limits and tokenizer with an instant fake model. */
export async function createFastEngine(
  cacheSize = 0,
  { tuning, vectorSize = 0, settings, limits = LIMITS, beforeForest }: FastEngineParts = {},
): Promise<EngineCore> {
  tokenizer ??= await openParts(readFileSync(path.join(packageRoot, "model/tokenizer.json"), "utf8"));
  const engine = new EngineCore({
    model: {
      id: MODEL_ID,
      revision: MODEL_ID.split("@")[1] ?? "",
      aliases: ["test/Fast-1M", "Fast-1M", "fast"],
      version: "v1.0.0",
      releaseDate: "2026-11-21",
      description: "Hashes of tokens",
      temperature: 4.136820402388508,
      showsLabels: true,
      limits,
    },
    settings: {
      queueCapacity: QUEUE_CAPACITY,
      maxBatchRequests: 32,
      maxBatchTokens: 2048,
      batchWaitMs: 0,
      cacheSize,
      strict: false,
      deadlineMs: 20_000,
      ...settings,
    },
    tuning,
    backend: new HashBackend(vectorSize, beforeForest),
    tokenizer,
    clock: systemClock,
    info: { backend: "hash", device: "cpu", precision: "fp32" },
  });
  await engine.start();
  return engine;
}
