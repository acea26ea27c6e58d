import type { Reply } from "../../client/exchange.ts";
import { at, isMap, show } from "../../client/json.ts";
import { ownContract } from "../../documents.ts";
import { type Check, checksOf, keylessChecksOf } from "../../trial/check.ts";
import { FULL_ID } from "../../trial/facts.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { CHOICE, NOULS, SCORE, STATE, TEMPERATURE } from "../scored.ts";

/** Limits that the contract fixes; the others depend on the model or the operator. */
const LIMITS: Readonly<Record<string, number>> = {
  max_body_bytes: CONTRACT_LIMITS.maxBodyBytes,
  max_nesting: CONTRACT_LIMITS.maxNesting,
  max_questions: CONTRACT_LIMITS.maxQuestions,
  min_candidates: CONTRACT_LIMITS.minCandidates,
  max_candidates: CONTRACT_LIMITS.maxCandidates,
  max_pairs: CONTRACT_LIMITS.maxPairs,
};
const STATUSES = ["ready", "starting", "draining", "failed"];

/** Checks that inference answers have exactly the members of the contract's schemas: some clients refuse unknown ones. */
export const ANSWER_SCHEMA_CHECKS: readonly Check[] = [
  ...checksOf("contract: Decisions", {
    "systemone.schema": {
      clause: "A systemone answer has exactly the members of the contract.",
      expected: "an answer that fits the schema, without additional members",
      run: async (trial) => {
        const questions = { c: CHOICE, n: NOULS[0], s: SCORE };
        await expectFitting(trial, "Decisions", await trial.infer(SYSTEMONE, { state: STATE, questions }));
      },
    },
  }),
  ...checksOf("contract: Ranking", {
    "rank.schema": {
      clause:
        "A ranking has exactly `ranked`, `usage`, `model`, `temperature`, `probabilities_source`, `latency_ms`.",
      expected: "an answer that fits the schema, without additional members",
      run: async (trial) =>
        expectFitting(trial, "Ranking", await trial.infer(RANK, { state: STATE, candidates: ["a", "b"] })),
    },
  }),
];

/** The same checks for /health, /ready and /v1/models. */
export const SERVER_SCHEMA_CHECKS: readonly Check[] = [
  ...keylessChecksOf("contract: ModelList", {
    "models.schema": {
      clause: "Each model of /v1/models has the seven members of the contract, including a date.",
      expected: "`id`, `name`, `aliases`, `task`, `description`, `release_date`, `revision`",
      run: async (trial: Trial) => {
        const reply = await trial.get("/v1/models");
        await expectFitting(trial, "ModelList", reply);
        const date = String(at(reply.json, "models", 0, "release_date"));
        const isDate = /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date));
        trial.expect(isDate, `release_date is ${date}`, reply);
      },
    },
  }),
  ...keylessChecksOf("contract: Health", {
    ...Object.fromEntries(
      ["/health", "/ready"].map((path) => [
        `${path.slice(1)}.schema`,
        {
          clause: `${path} has the members of the contract.`,
          expected: "a report that fits the schema; 200 with `status` ready",
          run: async (trial: Trial) => {
            const reply = await trial.get(path);
            await expectFitting(trial, "Health", reply);
            const status = String(at(reply.json, "status"));
            const isFitting = STATUSES.includes(status) && (reply.status === 200) === (status === "ready");
            trial.expect(isFitting, `status ${status} with ${reply.status}`, reply);
          },
        },
      ]),
    ),
    "health.limits": {
      clause: "`limits` has the limits that the server enforces.",
      expected: "the contract's limits; a count of at least 1 for those of the model or the operator",
      run: async (trial: Trial) => {
        const reply = await trial.get("/health");
        const limits = at(reply.json, "limits");
        if (!isMap(limits)) trial.skip("no limits: see health.schema");
        const wanted = { ...LIMITS, queue_capacity: at(reply.json, "queue_capacity") };
        for (const [name, value] of Object.entries(wanted)) trial.equal(name, limits.get(name), value, reply);
        trial.expect(Number(limits.get("deadline_seconds")) > 0, "no deadline", reply);
      },
    },
    "health.cache": {
      clause: "A disabled score cache has no entries and no hits.",
      expected: "`cache_entries` at most `cache_size`, and no `cache_hits` if that is 0",
      needsInference: true,
      turn: "last",
      run: async (trial: Trial) => {
        const reply = await trial.get("/health");
        const [size, entries, hits] = ["cache_size", "cache_entries", "cache_hits"].map((name) =>
          at(reply.json, name),
        );
        if (typeof size !== "number") trial.skip("no cache_size: see health.schema");
        trial.expect(Number(entries) <= size, `${show(entries)} entries of a cache of ${size}`, reply);
        trial.expect(size > 0 || hits === 0, `${show(hits)} hits of a disabled cache`, reply);
      },
    },
    "health.facts": {
      clause: "`temperature` is the fixed one, `model` a full id, and `version` that of the served document.",
      expected: "these values, and an `uptime_seconds` that grows",
      turn: "alone",
      run: async (trial: Trial) => {
        const reply = await trial.get("/health");
        trial.equal("temperature", at(reply.json, "temperature"), TEMPERATURE, reply);
        const model = at(reply.json, "model");
        trial.expect(FULL_ID.test(String(model)), `model is ${show(model)}`, reply);
        const own = at(reply.json, "version");
        const version = at((await trial.get("/openapi.json")).json, "info", "version");
        trial.equal("version", own, version ?? own, reply);
        await expectUptime(trial);
      },
    },
  }),
];

async function expectFitting(trial: Trial, schema: string, about: Reply | Inferred): Promise<void> {
  const { json } = about;
  trial.fits(json === undefined ? "no JSON" : (await ownContract()).misfit(schema, json), about);
}

/** Expects `uptime_seconds` to grow, by at most the time around both reads. */
async function expectUptime(trial: Trial): Promise<void> {
  const begin = performance.now();
  const first = at((await trial.get("/health")).json, "uptime_seconds");
  await new Promise((resolve) => setTimeout(resolve, 20));
  const later = await trial.get("/health");
  const second = at(later.json, "uptime_seconds");
  const most = 1 + (performance.now() - begin) / 1000; // the server may report whole seconds
  const isGrowing =
    typeof first === "number" && typeof second === "number" && second > first && second - first <= most;
  trial.expect(isGrowing, `uptime_seconds ${show(first)}, then ${show(second)}`, later);
}
