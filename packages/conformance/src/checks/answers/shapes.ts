import { at, isList, isMap, type Json, namesOf, show } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { FULL_ID } from "../../trial/facts.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { CHOICE, isNumbers, NOULS, SCORE, SOURCE, STATE, TEMPERATURE } from "../scored.ts";

const QUESTIONS = { intent: CHOICE, angry: NOULS[0], urgency: SCORE };
const SHARED = [
  {
    path: SYSTEMONE,
    name: "systemone",
    body: { state: STATE, questions: QUESTIONS },
    source: "interface: Decisions",
  },
  {
    path: RANK,
    name: "rank",
    body: { state: STATE, candidates: ["a refund", "a poem"] },
    source: "interface: Ranking",
  },
];

/** Members that every answer has, with their constant values. */
const CONSTANTS = [
  { member: "temperature", wanted: TEMPERATURE, clause: "An answer has the fixed temperature." },
  {
    member: "probabilities_source",
    wanted: SOURCE,
    clause: "An answer has the constant `probabilities_source`.",
  },
];

/** Checks of the members of answers and their types. */
export const SHAPE_CHECKS: readonly Check[] = [
  ...SHARED.flatMap(({ path, name, body, source }) => [
    ...CONSTANTS.map(({ member, wanted, clause }) =>
      defineCheck({
        id: `${name}.${member.replace("_", "-")}`,
        clause,
        source,
        expected: `\`${member}\` is ${wanted}`,
        run: async (trial: Trial) => {
          const inferred = await trial.infer(path, body);
          const value = at(inferred.json, member);
          trial.expect(value === wanted, `${member} is ${show(value)}`, inferred);
        },
      }),
    ),
    defineCheck({
      id: `${name}.usage`,
      clause: "An answer has the object `usage` with four counts.",
      source,
      expected: "`input_tokens`, `output_tokens`, `total_tokens`, `cached_pairs`: whole numbers from 0",
      run: async (trial: Trial) => {
        const inferred = await trial.infer(path, body);
        for (const count of ["input_tokens", "output_tokens", "total_tokens", "cached_pairs"]) {
          const value = at(inferred.json, "usage", count);
          const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0;
          trial.expect(isCount, `${count} is ${show(value)}`, inferred);
        }
      },
    }),
  ]),
  defineCheck({
    id: "systemone.latency",
    clause:
      "`latency_ms` is the time that the server spent on the inference, in milliseconds, queueing included.",
    source: "interface: Decisions",
    expected: "a number from 0 up to the time that the exchange took here",
    run: (trial: Trial) => checkLatency(trial, SYSTEMONE, { state: STATE, questions: QUESTIONS }),
  }),
  defineCheck({
    id: "rank.latency",
    clause: "A ranking has `latency_ms` too.",
    source: "contract: Ranking",
    expected: "a number from 0 up to the time that the exchange took here",
    run: (trial: Trial) => checkLatency(trial, RANK, { state: STATE, candidates: ["a refund", "a poem"] }),
  }),
  defineCheck({
    id: "systemone.model",
    clause: "An answer names the full id of the served model, revision included.",
    source: "interface: Decisions",
    expected: "a full id in `model`, the same as in other answers and lists",
    run: async (trial: Trial) => {
      const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions: QUESTIONS });
      const model = at(inferred.json, "model");
      trial.expect(typeof model === "string" && FULL_ID.test(model), `model is ${show(model)}`, inferred);
      const known = trial.facts.modelId ?? model;
      trial.expect(model === known, `model is ${show(model)}, and ${known} elsewhere`, inferred);
    },
  }),
  defineCheck({
    id: "systemone.answers.names",
    clause: "`answers` has exactly the names of the questions asked.",
    source: "interface: Decisions",
    expected: "each name once, whatever its characters, and no other",
    run: async (trial: Trial) => {
      const names = [
        "plain",
        "with space",
        "ümlaut 漢字 😀",
        'quote " and \\ slash',
        "10",
        "2",
        "a.b[0]",
        "CASE",
        "case",
      ];
      const questions = Object.fromEntries(names.map((name) => [name, NOULS[0]]));
      const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
      const came = namesOf(at(inferred.json, "answers"));
      trial.expect(
        came.length === names.length && names.every((name) => came.includes(name)),
        `the names ${JSON.stringify(came)}`,
        inferred,
      );
    },
  }),
  ...(["choice", "noul", "score"] as const).map((type) =>
    defineCheck({
      id: `systemone.answers.${type}`,
      clause: `A ${type} answer has \`type\`, \`${type}\`, \`probabilities\`, \`confidence\` and \`scores\`.`,
      source: "interface: Decisions",
      expected: `\`type\` "${type}", ${type === "choice" ? "a label" : "a number"} in \`${type}\`, numbers under a name for each candidate`,
      run: async (trial: Trial) => {
        const question = { choice: CHOICE, noul: NOULS[0], score: SCORE }[type];
        const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions: { q: question } });
        checkAnswer(trial, inferred, type);
      },
    }),
  ),
  defineCheck({
    id: "systemone.answers.labels",
    clause:
      "Probabilities and scores are keyed by label in a choice, and by position of the level in a score.",
    source: "interface: Decisions",
    expected: "exactly the labels that were sent; exactly the strings 0 to n-1",
    run: async (trial: Trial) => {
      const criteria = { "a b": "one thing", ü: "another thing", "7": "a third" };
      const questions = { c: { ...CHOICE, criteria }, s: SCORE };
      const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
      for (const [name, labels] of [
        ["c", Object.keys(criteria)],
        ["s", ["0", "1", "2"]],
      ] as const) {
        const came = namesOf(at(inferred.json, "answers", name, "probabilities"));
        trial.expect(
          came.length === labels.length && labels.every((label) => came.includes(label)),
          `probabilities of ${JSON.stringify(came)}`,
          inferred,
        );
        const scores = at(inferred.json, "answers", name, "scores");
        const scored = isList(scores) ? labels : namesOf(scores);
        trial.expect(
          scored.length === labels.length && labels.every((label) => scored.includes(label)),
          `scores of ${JSON.stringify(scored)}`,
          inferred,
        );
      }
    },
  }),
  defineCheck({
    id: "systemone.answers.outcomes",
    clause: "A noul answer's probabilities and scores are named `false` and `true`, in this order.",
    source: "contract: NoulAnswer",
    expected: "`false`, then `true`, whatever the names and order of the criteria",
    run: async (trial: Trial) => {
      const criteria = [
        undefined,
        { true: "It is late", false: "It is early" },
        { yes: "It is late", no: "It is early" },
        { yes: "It is late" },
      ];
      await trial.each(
        criteria.map((given) => ({ name: `criteria ${JSON.stringify(given)}`, given })),
        async ({ given }) => {
          const questions = { q: { type: "noul", instructions: "Is it late?", criteria: given } };
          const inferred = await trial.infer(SYSTEMONE, { state: "It is noon.", questions });
          for (const member of ["probabilities", "scores"]) {
            const names = namesOf(at(inferred.json, "answers", "q", member));
            trial.expect(names.join() === "false,true", `${member} of ${JSON.stringify(names)}`, inferred);
          }
        },
      );
    },
  }),
  defineCheck({
    id: "rank.rows",
    clause: "Each element of `ranked` has `rank`, `candidate`, `text`, `score` and `probability`.",
    source: "interface: Ranking",
    expected: "one element per candidate: a whole number, two strings, two numbers",
    run: async (trial: Trial) => {
      const inferred = await trial.infer(RANK, {
        state: STATE,
        candidates: ["a refund", "a poem", "a fault"],
      });
      const ranked = at(inferred.json, "ranked");
      trial.expect(isList(ranked) && ranked.length === 3, `ranked is ${show(ranked)}`, inferred);
      for (const row of ranked) {
        const isWhole =
          Number.isInteger(at(row, "rank")) &&
          typeof at(row, "candidate") === "string" &&
          typeof at(row, "text") === "string" &&
          isNumbers([at(row, "score"), at(row, "probability")]);
        trial.expect(isWhole, `an element ${show(row)}`, inferred);
      }
    },
  }),
];

async function checkLatency(trial: Trial, path: string, body: unknown): Promise<void> {
  const inferred = await trial.infer(path, body);
  const value = at(inferred.json, "latency_ms");
  const { elapsedMs } = inferred.reply;
  trial.expect(typeof value === "number" && value >= 0, `latency_ms is ${show(value)}`, inferred);
  // the clocks of both sides may differ slightly in speed
  trial.expect(
    value <= elapsedMs * 1.02 + 5,
    `latency_ms is ${value}, but the whole exchange took ${elapsedMs.toFixed(1)} ms here`,
    inferred,
  );
}

function checkAnswer(trial: Trial, inferred: Inferred, type: "choice" | "noul" | "score"): void {
  const answer = at(inferred.json, "answers", "q");
  const member = (name: string): Json | undefined => at(answer, name);
  trial.expect(member("type") === type, `type is ${show(member("type"))}`, inferred);
  const probabilities = member("probabilities");
  const scores = member("scores");
  const count = type === "noul" ? 2 : 3;
  trial.expect(
    isMap(probabilities) && probabilities.size === count && isNumbers([...probabilities.values()]),
    `probabilities is ${show(probabilities)}`,
    inferred,
  );
  const numbers = isMap(scores)
    ? [...scores.values()]
    : isList(scores) && trial.profile === "seed"
      ? scores
      : [];
  trial.expect(numbers.length === count && isNumbers(numbers), `scores is ${show(scores)}`, inferred);
  trial.expect(isNumbers([member("confidence")]), `confidence is ${show(member("confidence"))}`, inferred);
  const outcome = member(type);
  if (type === "choice")
    trial.expect(
      typeof outcome === "string" && probabilities.has(outcome),
      `choice is ${show(outcome)}`,
      inferred,
    );
  else {
    const most = type === "noul" ? 1 : count - 1;
    const isInRange = typeof outcome === "number" && outcome >= 0 && outcome <= most;
    trial.expect(isInRange, `${type} is ${show(outcome)}`, inferred);
  }
}
