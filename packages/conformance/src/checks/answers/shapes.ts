import { at, isList, isMap, type Json, namesOf, show } from "../../client/json.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { FULL_ID } from "../../trial/facts.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { CHOICE, isNumbers, NOULS, SCORE, SOURCE, STATE, TEMPERATURE } from "../scored.ts";

/** Written out as text: JavaScript would move names that look like integers to the front. */
const LABELS = ["10", "2", "x", "1", "a", "0"];
const TURNED_NAMES = ["7", "z", "3", "b", "0", "12"];
const ODD = ["__proto__", "constructor", "", "hasOwnProperty", "toString", "prototype"];
const EXACT = ["é", "e\u0301", " pad ", 'a"b\\c', "\u0000", "😀", "line\nbreak", "\u2028", "x".repeat(1000)];

/** Checks of the order of members in the text of an answer. */
export const ORDER_CHECKS: readonly Check[] = [
  ...checksOf("contract: Requests", {
    "order.answers": {
      clause: "`answers` has the order of the questions, also if names look like integers.",
      expected: `the names in the order ${TURNED_NAMES.join(", ")}`,
      run: (trial) => checkNames(trial, TURNED_NAMES),
    },
    ...Object.fromEntries(
      ["probabilities", "scores"].map((member) => [
        `order.${member}`,
        {
          clause: `\`${member}\` has the order of the criteria, also if labels look like integers.`,
          expected: `the labels in the order ${LABELS.join(", ")}`,
          run: (trial: Trial) => checkLabels(trial, LABELS, [member]),
        },
      ]),
    ),
    "order.exact-names": {
      clause: "Names are returned exactly as sent.",
      expected:
        "the same characters: accents in both Unicode forms, control characters, line separators, long names",
      run: async (trial) => {
        await checkNames(trial, EXACT);
        await checkLabels(trial, EXACT, ["scores"]);
      },
    },
  }),
  ...checksOf("contract: Requests, Question", {
    "order.odd-names": {
      clause: "A question name and a label may be any string: the empty one, `__proto__`, `constructor`.",
      expected: "each of them in its place, as ordinary data",
      run: async (trial) => {
        await checkNames(trial, ODD);
        // an empty label is valid because it has a description
        await checkLabels(trial, ODD, ["scores", "probabilities"]);
      },
    },
  }),
];

function checkNames(trial: Trial, names: readonly string[]): Promise<void> {
  return checkOrder(trial, names, ["a", "b"], [["answers"]], names);
}

function checkLabels(trial: Trial, labels: readonly string[], members: readonly string[]): Promise<void> {
  const places = members.map((member) => ["answers", "q", member]);
  return checkOrder(trial, ["q"], labels, places, labels);
}

async function checkOrder(
  trial: Trial,
  questions: readonly string[],
  labels: readonly string[],
  places: readonly (readonly string[])[],
  wanted: readonly string[],
): Promise<void> {
  const criteria = labels.map((label, index) => `${JSON.stringify(label)}:"description ${index}"`).join();
  const question = `{"type":"choice","instructions":"Which one?","criteria":{${criteria}}}`;
  const asked = questions.map((name) => `${JSON.stringify(name)}:${question}`).join();
  const body = `{"state":${JSON.stringify(STATE)},"questions":{${asked}}}`;
  const inferred = await trial.infer(SYSTEMONE, body);
  for (const place of places) {
    const came = JSON.stringify(namesOf(at(inferred.json, ...place)));
    trial.expect(came === JSON.stringify(wanted), `the order ${came}`, inferred);
  }
}

const QUESTIONS = { intent: CHOICE, angry: NOULS[0], urgency: SCORE };
const NAMES = [
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
const askAll = (trial: Trial) => trial.infer(SYSTEMONE, { state: STATE, questions: QUESTIONS });
const rankTwo = (trial: Trial) => trial.infer(RANK, { state: STATE, candidates: ["a refund", "a poem"] });
type Ask = (trial: Trial) => Promise<Inferred>;

/** Checks of the members of answers and their types. */
export const SHAPE_CHECKS: readonly Check[] = [
  ...checksOf("interface: Decisions", {
    ...everyAnswer("systemone", askAll),
    "systemone.latency": latency(
      "`latency_ms` is the time that the server spent on the inference, in milliseconds, queueing included.",
      askAll,
    ),
    "systemone.model": {
      clause: "An answer names the full id of the served model, revision included.",
      expected: "a full id in `model`, the same as in other answers and lists",
      run: async (trial: Trial) => {
        const inferred = await askAll(trial);
        const model = at(inferred.json, "model");
        trial.expect(typeof model === "string" && FULL_ID.test(model), `model is ${show(model)}`, inferred);
        trial.equal("model", model, trial.facts.modelId ?? model, inferred);
      },
    },
    "systemone.answers.names": {
      clause: "`answers` has exactly the names of the questions asked.",
      expected: "each name once, whatever its characters, and no other",
      run: async (trial) => {
        const questions = Object.fromEntries(NAMES.map((name) => [name, NOULS[0]]));
        const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
        expectNames(trial, "answers", at(inferred.json, "answers"), NAMES, inferred);
      },
    },
    ...Object.fromEntries((["choice", "noul", "score"] as const).map(answerOf)),
    "systemone.answers.labels": {
      clause:
        "Probabilities and scores are keyed by label in a choice, and by position of the level in a score.",
      expected: "exactly the labels that were sent; exactly the strings 0 to n-1",
      run: async (trial) => {
        const criteria = { "a b": "one thing", ü: "another thing", "7": "a third" };
        const questions = { c: { ...CHOICE, criteria }, s: SCORE };
        const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
        for (const [name, labels] of [
          ["c", Object.keys(criteria)],
          ["s", ["0", "1", "2"]],
        ] as const)
          for (const member of ["probabilities", "scores"]) {
            const given = at(inferred.json, "answers", name, member);
            const isUnnamed = member === "scores" && isList(given); // the profile `seed` allows that
            if (!isUnnamed) expectNames(trial, member, given, labels, inferred);
          }
      },
    },
  }),
  ...checksOf("interface: Ranking", {
    ...everyAnswer("rank", rankTwo),
    "rank.rows": {
      clause: "Each element of `ranked` has `rank`, `candidate`, `text`, `score` and `probability`.",
      expected: "one element per candidate: a whole number, two strings, two numbers",
      run: async (trial: Trial) => {
        const inferred = await rankTwo(trial);
        const ranked = at(inferred.json, "ranked");
        trial.expect(isList(ranked) && ranked.length === 2, `ranked is ${show(ranked)}`, inferred);
        for (const row of ranked) {
          const areTexts = ["candidate", "text"].every((name) => typeof at(row, name) === "string");
          const areNumbers = isNumbers([at(row, "score"), at(row, "probability")]);
          const isWhole = Number.isInteger(at(row, "rank")) && areTexts && areNumbers;
          trial.expect(isWhole, `an element ${show(row)}`, inferred);
        }
      },
    },
  }),
  ...checksOf("contract: Ranking", {
    "rank.latency": latency("A ranking has `latency_ms` too.", rankTwo),
  }),
  ...checksOf("contract: NoulAnswer", {
    "systemone.answers.outcomes": {
      clause: "A noul answer's probabilities and scores are named `false` and `true`, in this order.",
      expected: "`false`, then `true`, whatever the names and order of the criteria",
      run: (trial) =>
        trial.eachOf(
          {
            "no criteria": undefined,
            "true and false": { true: "It is late", false: "It is early" },
            "yes and no": { yes: "It is late", no: "It is early" },
            yes: { yes: "It is late" },
          },
          async (criteria) => {
            const questions = { q: { type: "noul", instructions: "Is it late?", criteria } };
            const inferred = await trial.infer(SYSTEMONE, { state: "It is noon.", questions });
            for (const member of ["probabilities", "scores"]) {
              const names = namesOf(at(inferred.json, "answers", "q", member));
              trial.equal(`the order of ${member}`, names.join(), "false,true", inferred);
            }
          },
        ),
    },
  }),
];

/** Members that every answer of an operation has. */
function everyAnswer(operation: string, ask: Ask): Readonly<Record<string, Draft>> {
  const constant = (what: string, member: string, wanted: number | string): Draft => ({
    clause: `An answer has ${what}.`,
    expected: `\`${member}\` is ${wanted}`,
    run: async (trial) => {
      const inferred = await ask(trial);
      trial.equal(member, at(inferred.json, member), wanted, inferred);
    },
  });
  return {
    [`${operation}.temperature`]: constant("the fixed temperature", "temperature", TEMPERATURE),
    [`${operation}.probabilities-source`]: constant(
      "the constant `probabilities_source`",
      "probabilities_source",
      SOURCE,
    ),
    [`${operation}.usage`]: {
      clause: "An answer has the object `usage` with four counts.",
      expected: "`input_tokens`, `output_tokens`, `total_tokens`, `cached_pairs`: whole numbers from 0",
      run: async (trial: Trial) => {
        const inferred = await ask(trial);
        for (const count of ["input_tokens", "output_tokens", "total_tokens", "cached_pairs"]) {
          const value = at(inferred.json, "usage", count);
          trial.expect(Number.isInteger(value) && Number(value) >= 0, `${count} is ${show(value)}`, inferred);
        }
      },
    },
  };
}

function latency(clause: string, ask: Ask): Draft {
  return {
    clause,
    expected: "a number from 0 up to the time that the exchange took here",
    run: async (trial: Trial) => {
      const inferred = await ask(trial);
      const value = at(inferred.json, "latency_ms");
      const { elapsedMs } = inferred.reply;
      // the clocks of both sides may differ slightly in speed
      const isWithin = typeof value === "number" && value >= 0 && value <= elapsedMs * 1.02 + 5;
      const came = `latency_ms is ${show(value)}, and the whole exchange took ${elapsedMs.toFixed(1)} ms here`;
      trial.expect(isWithin, came, inferred);
    },
  };
}

function expectNames(
  trial: Trial,
  what: string,
  given: Json | undefined,
  wanted: readonly string[],
  about: Inferred,
): void {
  const came = JSON.stringify(namesOf(given).toSorted());
  trial.expect(came === JSON.stringify(wanted.toSorted()), `${what} of ${came}`, about);
}

function answerOf(type: "choice" | "noul" | "score"): [id: string, draft: Draft] {
  const outcome = type === "choice" ? "a label" : "a number";
  return [
    `systemone.answers.${type}`,
    {
      clause: `A ${type} answer has \`type\`, \`${type}\`, \`probabilities\`, \`confidence\` and \`scores\`.`,
      expected: `\`type\` "${type}", ${outcome} in \`${type}\`, numbers under a name for each candidate`,
      run: async (trial) => {
        const question = { choice: CHOICE, noul: NOULS[0], score: SCORE }[type];
        const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions: { q: question } });
        checkAnswer(trial, inferred, type);
      },
    },
  ];
}

function checkAnswer(trial: Trial, inferred: Inferred, type: "choice" | "noul" | "score"): void {
  const answer = at(inferred.json, "answers", "q");
  const expectMember = (isFitting: boolean, name: string) =>
    trial.expect(isFitting, `${name} is ${show(at(answer, name))}`, inferred);
  trial.equal("type", at(answer, "type"), type, inferred);
  const [probabilities, scores, outcome] = ["probabilities", "scores", type].map((name) => at(answer, name));
  const count = type === "noul" ? 2 : 3;
  const areNumbers = (values: readonly Json[]) => values.length === count && isNumbers(values);
  expectMember(isMap(probabilities) && areNumbers([...probabilities.values()]), "probabilities");
  const listed = isList(scores) && trial.profile === "seed" ? scores : [];
  expectMember(areNumbers(isMap(scores) ? [...scores.values()] : listed), "scores");
  expectMember(isNumbers([at(answer, "confidence")]), "confidence");
  if (type === "choice") expectMember(namesOf(probabilities).includes(String(outcome)), type);
  else {
    const most = type === "noul" ? 1 : count - 1;
    expectMember(typeof outcome === "number" && outcome >= 0 && outcome <= most, type);
  }
}
