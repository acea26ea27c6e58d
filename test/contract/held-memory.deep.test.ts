import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createContractFor } from "../../src/app.ts";
import type { RenderedRequest } from "../../src/decisions/request.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { EngineCore } from "../../src/inference/engine-core.ts";
import { encodeByParts } from "../../src/inference/tokens/part-plan.ts";
import type { TokenLimits } from "../../src/inference/tokens/tokenizer.ts";
import { SETTINGS } from "../inference/queue-bench.ts";
import { ScriptedBackend } from "../inference/scripted-backend.ts";
import { readLetters, spellIds } from "../support/letter-tokens.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const WAITING = 8;
const MIB = 2 ** 20;
/** Measured: 0.1 MiB, and 19 where the values of the bodies are held. */
const MOST_OF_A_REQUEST = MIB;

/** A few tokens for any text, each text its own. */
const tokenizer = {
  readTexts: readLetters,
  spell: spellIds,
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal) {
    const encodeParts = async (parts: readonly unknown[]) => parts.map((_, i) => Int32Array.of(1, i, 2));
    return encodeByParts(request, limits, { encodeParts }, signal);
  },
};

function makeEngine(backend: ScriptedBackend): EngineCore {
  const limits = { maxStateQuestionTokens: 2_048, maxCandidateTokens: 768 };
  const names = {
    id: "a/b@0",
    revision: "0",
    aliases: [],
    version: "v0",
    releaseDate: "2026-01-01",
    description: "",
  };
  return new EngineCore({
    model: { ...names, temperature: 1, showsLabels: false, limits },
    settings: { ...SETTINGS, queueCapacity: WAITING + 1, deadlineMs: 600_000 },
    backend,
    tokenizer,
    clock: systemClock,
    info: { backend: "scripted", device: "cpu", precision: "fp32" },
  });
}

/** A valid body of many small objects. */
function body(): Uint8Array {
  const objects = '{"":null},'.repeat(380);
  const criteria = Array.from({ length: 32 }, (_, i) => `"${i}":[${objects}${i}]`).join();
  const questions = Array.from(
    { length: 8 },
    (_, i) => `"${i}":{"type":"choice","instructions":"?","criteria":{${criteria}}}`,
  );
  return Buffer.from(`{"state":"s","questions":{${questions.join()}}}`);
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

it("requests that wait for the model hold little of what their bodies held", async () => {
  const backend = new ScriptedBackend();
  const engine = makeEngine(backend);
  await engine.start();
  const contract = await createContractFor(engine);
  const leave = new AbortController();
  const ask = () =>
    contract.call({ operationId: "systemone", requestId: "r", signal: leave.signal, body: body() });
  const answers: Promise<unknown>[] = [ask()]; // the first compiles and warms up
  const until = async (count: number) => {
    const end = performance.now() + 20_000;
    while (engine.health().counters.queued + engine.health().counters.running < count) {
      assert.ok(
        performance.now() < end,
        `not taken: ${JSON.stringify(await Promise.race([...answers, sleep(1)]))}`,
      );
      await sleep(5);
    }
  };
  await until(1);
  const before = heapUsed();
  for (let i = 0; i < WAITING; i++) {
    answers.push(ask());
    await until(i + 2);
  }
  const heldEach = () => (heapUsed() - before) / WAITING;
  let held = heldEach();
  const end = performance.now() + 20_000; // what is still under way lets go soon
  for (; held >= MOST_OF_A_REQUEST && performance.now() < end; held = heldEach()) await sleep(5);
  leave.abort();
  await Promise.allSettled(answers);
  assert.ok(held < MOST_OF_A_REQUEST, `${(held / MIB).toFixed(1)} MiB a request`);
});
