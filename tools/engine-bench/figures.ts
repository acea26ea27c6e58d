import { type Measurement, measurement } from "../../bench/measure/measurement.ts";
import { interleave, roundsWithin } from "../../bench/measure/rounds.ts";
import { median, ratios } from "../../bench/measure/statistics.ts";
import { CANDIDATES, QUESTIONS, SHORT } from "../../bench/workloads/fixed-sizes.ts";
import { questionsOnOneState } from "../../bench/workloads/warm-state.ts";
import type { Workload } from "../../bench/workloads/workload.ts";
import { enoughFor, runSlice, Supply } from "./slice.ts";
import { type EngineRun, type Prepared, scoreChecked } from "./subject.ts";

/** Requests per round of the latency figure. */
const SHORT_CALLS = 15;
const WAITING = 32;

/**
 * Throughput in pairs/s with as many candidates as a ranking may have, of 15 tokens, and a 512-token state, relative to
 * pair by pair.
 */
export const manyCandidates = (run: EngineRun) =>
  againstPairs(run, CANDIDATES, {
    name: "engine.candidates-vs-pairs",
    title: `${CANDIDATES.title}: throughput relative to pair by pair in fp32`,

    pairs: run.effort.baselinePairs.candidates,
  });

/**
 * Throughput with as many questions as a request may have, of 4 candidates, and a 1,000-token state, relative to pair
 * by pair.
 */
export const manyQuestions = (run: EngineRun) =>
  againstPairs(run, QUESTIONS, {
    name: "engine.questions-vs-pairs",
    title: `${QUESTIONS.title}: throughput relative to pair by pair in fp32`,

    pairs: run.effort.baselinePairs.questions,
  });

async function againstPairs(
  run: EngineRun,
  workload: Workload,
  facts: { readonly name: string; readonly title: string; readonly pairs: number },
): Promise<readonly Measurement[]> {
  const { subject, effort, seed, signal } = run;
  const supply = new Supply(workload, seed, subject);
  const [warmUp] = await supply.take(1);
  if (!warmUp) throw new Error("a workload without requests");
  subject.pairBackend.batch = effort.baselineBatch;
  // warm-up: both sides have run this shape before
  await scoreChecked(subject.baseline, firstPairs(warmUp, facts.pairs), signal);
  const startedAt = performance.now();
  await scoreChecked(subject.engine, warmUp, signal);
  const perRequestMs = performance.now() - startedAt;

  const { engine, baseline } = await interleave(
    {
      engine: async () => {
        const count = enoughFor(effort.sliceMs, perRequestMs, 1, effort.maxRequests);
        const requests = await supply.take(count);
        const slice = await runSlice(subject.engine, requests, {
          callers: 1,
          budgetMs: effort.sliceMs,
          signal,
        });
        return slice.pairs / (slice.elapsedMs / 1000);
      },
      baseline: async () => {
        const [request] = await supply.take(1);
        if (!request) throw new Error("a workload without requests");
        const part = firstPairs(request, facts.pairs);
        const slice = await runSlice(subject.baseline, [part], {
          callers: 1,
          budgetMs: effort.sliceMs,
          signal,
        });
        return slice.pairs / (slice.elapsedMs / 1000);
      },
    },
    { rounds: effort.rounds, budgetMs: effort.figureMs, signal },
  );
  const { pairs: _, ...figure } = facts;
  return figureOf({ ...figure, unit: "x", better: "higher" }, ratios(engine, baseline), "pairs/s", [
    ["engine", "the engine", engine],
    ["baseline", "pair by pair", baseline],
  ]);
}

/** The first `count` pairs of a request, as a request on the same state. */
export function firstPairs({ request, rendered }: Prepared, count: number): Prepared {
  let left = count;
  const questions = rendered.questions.flatMap((question) => {
    const candidates = question.candidates.slice(0, left);
    left -= candidates.length;
    return candidates.length > 0 ? [{ ...question, candidates }] : [];
  });
  const labels = questions.map(
    ({ candidates }, i) => [String(i), candidates.map(({ label }) => label)] as const,
  );
  return {
    rendered: { ...rendered, questions },
    request: { ...request, labels: new Map(labels) },
  };
}

/** Latency of a request with two candidates and about 45 tokens, one caller. */
export async function shortLatency(run: EngineRun): Promise<readonly Measurement[]> {
  const { subject, effort, seed, signal } = run;
  const supply = new Supply(SHORT, seed, subject);
  const count = Math.min(SHORT_CALLS, effort.maxRequests);
  const limits = { callers: 1, budgetMs: Math.max(effort.sliceMs, 1), signal };
  const arm = (engine: typeof subject.engine) => async () =>
    median((await runSlice(engine, await supply.take(count), limits)).latenciesMs);
  const arms = { engine: arm(subject.engine), baseline: arm(subject.baseline) };
  await arms.engine();
  await arms.baseline();
  const { engine, baseline } = await interleave(arms, {
    rounds: 2 * effort.rounds,
    budgetMs: effort.figureMs,
    signal,
  });
  const figure = {
    name: "engine.short-latency",
    title: "2 candidates, 45 tokens in all, one caller: latency of pair by pair in fp32 over the engine's",
    unit: "x",
    better: "higher",
  } as const;
  return figureOf(figure, ratios(baseline, engine), "ms", [
    ["engine", "the engine", engine],
    ["baseline", "pair by pair", baseline],
  ]);
}

/** Throughput of 32 waiting short requests, relative to one at a time. */
export async function waitingTogether(run: EngineRun): Promise<readonly Measurement[]> {
  const { subject, effort, seed, signal } = run;
  const supply = new Supply(SHORT, seed + 1, subject);
  const arm = (callers: number) => async () => {
    const requests = await supply.take(Math.min(WAITING, effort.maxRequests));
    const slice = await runSlice(subject.engine, requests, {
      callers,
      budgetMs: Number.POSITIVE_INFINITY,
      signal,
    });
    return slice.served.length / (slice.elapsedMs / 1000);
  };
  const { together, alone } = await interleave(
    { together: arm(WAITING), alone: arm(1) },
    { rounds: 2 * effort.rounds, budgetMs: effort.figureMs, signal },
  );
  const figure = {
    name: "engine.waiting-together",
    title: "32 short requests waiting, requests/s against one after the other",
    unit: "x",
    better: "higher",
  } as const;
  return figureOf(figure, ratios(together, alone), "requests/s", [
    ["together", "32 waiting", together],
    ["alone", "one after the other", alone],
  ]);
}

/** Latency of a second question on a cached 1,000-token state, relative to the first. */
export async function warmQuestion(run: EngineRun): Promise<readonly Measurement[]> {
  const { subject, effort, seed, signal } = run;
  const first: number[] = [];
  const second: number[] = [];
  const timed = async (prepared: Prepared) => {
    const startedAt = performance.now();
    await scoreChecked(subject.engine, prepared, signal);
    return performance.now() - startedAt;
  };
  for (const round of roundsWithin({ rounds: effort.rounds, budgetMs: effort.figureMs })) {
    signal.throwIfAborted();
    const [cold, warm] = questionsOnOneState(seed, round);
    const prepared = [await subject.prepare(cold), await subject.prepare(warm)] as const;
    first.push(await timed(prepared[0]));
    second.push(await timed(prepared[1]));
  }
  const figure = {
    name: "engine.warm-question",
    title: "one more question on a warm 1,000-token state, latency as a share of the first",
    unit: "%",
    better: "lower",
  } as const;
  const shares = ratios(second, first).map((ratio) => 100 * ratio);
  return figureOf(figure, shares, "ms", [
    ["first", "the first question", first],
    ["second", "one more", second],
  ]);
}

type Part = readonly [name: string, title: string, rounds: readonly number[]];

/** A figure, and behind it the numbers that it comes from. */
function figureOf(
  facts: Parameters<typeof measurement>[0],
  rounds: readonly number[],
  unit: Measurement["unit"],
  parts: readonly Part[],
): readonly Measurement[] {
  const better = unit === "ms" ? "lower" : "higher";
  return [
    measurement(facts, rounds),
    ...parts.map(([name, title, values]) =>
      measurement({ name: `${facts.name}.${name}`, title, unit, better }, values),
    ),
  ];
}
