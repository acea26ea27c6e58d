import { at, show, toPlain } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { choiceOf, freshState, listScores, rankScores, rowsOf, scoredOf, scoreOf } from "../scored.ts";
import { checkTextsStay, compareAtPlaces, effectOfRanking, isAlike } from "./places.ts";
import {
  CANDIDATES,
  FLOATS,
  HELD,
  PADDED,
  SCALARS,
  type Spelling,
  STAY_TEXTS,
  STRUCTURES,
} from "./spellings.ts";

/** Checks of how values are rendered to texts. They compare values that must score alike, and others that must not. */
export const TEXT_CHECKS: readonly Check[] = [
  rendering(
    "texts.scalars",
    "Integers keep all their digits, booleans become words, strings are trimmed.",
    SCALARS,
  ),
  rendering("texts.floats", "Floats are rendered like Python's repr.", FLOATS),
  rendering(
    "texts.structures",
    "Objects are rendered as `key: value` fields in input order, arrays as `- item` lines, nested ones indented.",
    STRUCTURES,
  ),
  defineCheck({
    id: "texts.state-holds-json",
    clause: "A string state that contains a JSON object or array is rendered like that value.",
    source: "contract: Texts",
    expected: "the scores and tokens of the object or array itself",
    run: async (trial: Trial) => {
      const cases = HELD.map(([given, like]) => ({ name: given, given, like }));
      await trial.each(cases, ({ given, like }) => compareStates(trial, given, like));
    },
  }),
  defineCheck({
    id: "texts.only-state-holds-json",
    clause: "Only a state is parsed as JSON: any other string that contains JSON stays a string.",
    source: "contract: Texts",
    expected:
      "other tokens or scores for instructions, descriptions and candidates given as JSON text than for the parsed value",
    run: checkTextsStay,
  }),
  defineCheck({
    id: "texts.state-holds-scalars",
    clause:
      "A string state that contains a JSON number, literal or string stays a string, and so does any string within a state.",
    source: "contract: Texts",
    expected: "other scores or tokens than for the parsed value",
    run: async (trial: Trial) => {
      const cases = STAY_TEXTS.map(([given, value]) => ({ name: given, given, value }));
      await trial.each(cases, async ({ given, value }) => {
        const [one, other] = [await rawRank(trial, given), await rawRank(trial, value)];
        trial.expect(differ(one, other), `the same scores and tokens as for ${value}`, one.inferred);
      });
    },
  }),
  defineCheck({
    id: "texts.labels-stay",
    clause: "A label without a description is shown as it is, also if it contains JSON.",
    source: "contract: Texts",
    expected: "other scores than with the parsed value as its description",
    run: async (trial: Trial) => {
      for (const [label, value] of [
        ['{"a":1}', { a: 1 }],
        ['["x","y"]', ["x", "y"]],
      ] as const) {
        const state = freshState();
        const question = (text: unknown) => choiceOf({ [label]: text, other: "Something else" });
        const questions = { bare: question(null), held: question(value) };
        const inferred = await trial.infer(SYSTEMONE, { state, questions });
        const [bare, held] = ["bare", "held"].map((name) => scoredOf(trial, inferred, name).scores[0]);
        trial.expect(
          bare !== held,
          `the label ${label} has the score ${bare}, the same as the JSON that it contains`,
          inferred,
        );
      }
    },
  }),
  defineCheck({
    id: "texts.trimmed",
    clause: "Instructions and descriptions are trimmed, including those rendered from other values.",
    source: "contract: Texts",
    expected: "the scores and tokens of the trimmed text, at each place and for each type",
    run: (trial: Trial) => compareAtPlaces(trial, PADDED),
  }),
  defineCheck({
    id: "texts.trimmed-candidates",
    clause: "The candidates of a ranking are trimmed before scoring.",
    source: "contract: systemone, rank",
    expected: "the scores and tokens of the same candidates trimmed",
    run: async (trial: Trial) => {
      const state = freshState();
      const padded = [" one thing ", "\n\tanother one", "order 1 is paid\u00a0"];
      const [one, other] = [padded, CANDIDATES].map((candidates) => JSON.stringify({ state, candidates }));
      const seen = await effectOfRanking(trial, one ?? "");
      const like = await effectOfRanking(trial, other ?? "");
      trial.expect(
        isAlike(seen, like),
        `${seen.scores} and ${seen.tokens} tokens, but ${like.scores} and ${like.tokens} trimmed`,
        seen.inferred,
      );
    },
  }),
  defineCheck({
    id: "texts.differ",
    clause: "Different values are different texts.",
    source: "contract: Texts",
    expected: "other scores or tokens: for another order of fields, another nesting, another number",
    run: async (trial: Trial) => {
      const states = [
        '{"a":1,"b":2}',
        '{"b":2,"a":1}',
        "[1,2]",
        "[2,1]",
        '{"a":[1,2]}',
        "5",
        "5.5",
        "true",
        "false",
        "[[1],2]",
      ];
      const all = [];
      for (const state of states) all.push({ state, seen: await rawRank(trial, state) });
      for (const [index, one] of all.entries())
        for (const other of all.slice(index + 1))
          trial.expect(
            differ(one.seen, other.seen),
            `the states ${one.state} and ${other.state} score alike`,
            other.seen.inferred,
          );
    },
  }),
  defineCheck({
    id: "texts.levels",
    clause: "A level is shown as its description.",
    source: "contract: Texts",
    expected: "the scores that `rank` gives to the rendered texts",
    run: async (trial: Trial) => {
      const levels = ["can wait", 5, { a: 1 }, ["x", true]];
      const shown = ["can wait", "5", "a: 1", "- x\n- true"];
      await compareAnswer(trial, scoreOf(levels, "How urgent?"), "How urgent?", [shown]);
    },
  }),
  defineCheck({
    id: "texts.labels",
    clause:
      "A label is shown as its description, with or without the label in front; without a description, as the label.",
    source: "contract: Texts",
    expected: "the scores that `rank` gives to those texts",
    run: async (trial: Trial) => {
      const criteria = {
        refund: "Wants money back",
        cancel: null,
        fault: " ",
        same: "same",
        pad: "\tpad ",
        n: 5,
      };
      const plain = ["Wants money back", "cancel", "fault", "same", "pad", "5"];
      const labelled = ["refund: Wants money back", "cancel", "fault", "same", "pad", "n: 5"];
      await compareAnswer(trial, choiceOf(criteria, "What is it?"), "What is it?", [plain, labelled]);
    },
  }),
  ...[
    {
      id: "texts.noul-described",
      clause: "A described outcome is shown as `false: <description>` or `true: <description>`.",
      criteria: { false: "On time", true: { due: "past" } },
      instructions: "Is it late?",
      shown: ["false: On time", "true: due: past"],
    },
    {
      id: "texts.noul-default",
      clause:
        "An outcome without a description is shown with the contract's default words and the instructions.",
      criteria: undefined,
      instructions: "Is it late?",
      shown: ["false: No. This is false: Is it late?", "true: Yes. This is true: Is it late?"],
    },
    {
      id: "texts.noul-half",
      clause: "If one outcome is described, the other keeps its default words.",
      criteria: { yes: "Past the due date" },
      instructions: { is: "late" },
      shown: ["false: No. This is false: is: late", "true: Past the due date"],
    },
    {
      id: "texts.noul-bare",
      clause: "With blank instructions too, the outcomes are shown as `false: false` and `true: true`.",
      criteria: null,
      instructions: " ",
      shown: ["false: false", "true: true"],
    },
  ].map(({ id, clause, criteria, instructions, shown }) =>
    defineCheck({
      id,
      clause,
      source: "contract: Texts",
      expected: `the scores that \`rank\` gives to ${shown.map((text) => JSON.stringify(text)).join(" and ")}`,
      run: (trial: Trial) =>
        compareAnswer(trial, { type: "noul", instructions, criteria }, instructions, [shown]),
    }),
  ),
  defineCheck({
    id: "texts.rank-labels-hidden",
    clause: "The labels of a ranking's candidates are never shown to the model.",
    source: "contract: Texts",
    expected: "the same scores under other labels",
    run: async (trial: Trial) => {
      const scores = async (labels: readonly string[]) => {
        const candidates = Object.fromEntries(labels.map((label, index) => [label, CANDIDATES[index] ?? ""]));
        const inferred = await trial.infer(RANK, { state: "s", question: "Which?", candidates });
        const byText = rowsOf(trial, inferred).map(({ text, score }) => [text, score]);
        return { inferred, text: JSON.stringify(byText) };
      };
      const one = await scores(["x", "y", "z"]);
      const other = await scores([`${MARK} label`, "another long label", "third"]);
      trial.expect(
        one.text === other.text,
        `${other.text} under other labels, ${one.text} before`,
        other.inferred,
      );
    },
  }),
];

type Seen = Awaited<ReturnType<typeof rankScores>>;

function differ(one: Seen, other: Seen): boolean {
  return JSON.stringify([one.scores, one.tokens]) !== JSON.stringify([other.scores, other.tokens]);
}

/** Ranks candidates for a state given as JSON text. */
async function rawRank(trial: Trial, state: string): Promise<Seen> {
  const texts = JSON.stringify(CANDIDATES);
  const inferred = await trial.infer(RANK, `{"state":${state},"question":"Which?","candidates":${texts}}`);
  // pairs from a cache count no tokens: then only the scores are compared
  const isCached = at(inferred.json, "usage", "cached_pairs") !== 0;
  const tokens = isCached ? undefined : at(inferred.json, "usage", "input_tokens");
  return { scores: listScores(trial, inferred, CANDIDATES.length), tokens, inferred };
}

async function compareStates(trial: Trial, given: string, like: string): Promise<void> {
  const [one, other] = [await rawRank(trial, given), await rawRank(trial, like)];
  const isSame =
    JSON.stringify(one.scores) === JSON.stringify(other.scores) &&
    (one.tokens === undefined || other.tokens === undefined || one.tokens === other.tokens);
  trial.expect(
    isSame,
    `the scores ${show(one.scores)} and ${show(one.tokens)} tokens, but ${show(other.scores)} and ${show(other.tokens)} for ${like}`,
    one.inferred,
  );
}

function rendering(id: string, clause: string, spellings: readonly Spelling[]): Check {
  return defineCheck({
    id,
    clause,
    source: "contract: Texts",
    expected:
      "the scores and tokens of the rendered text: as a state, as a question, as instructions and as a description",
    run: async (trial: Trial) => {
      const cases = spellings.map(([json, text]) => ({ name: json, json, text }));
      await trial.each(cases, async ({ json, text }) => {
        await compareStates(trial, json, JSON.stringify(text));
        const texts = JSON.stringify(CANDIDATES);
        const inferred = await trial.infer(RANK, `{"state":"s","question":${json},"candidates":${texts}}`);
        const like = await trial.infer(RANK, { state: "s", question: text, candidates: CANDIDATES });
        const [a, b] = [inferred, like].map(({ json: answer }) =>
          JSON.stringify(toPlain(answer.get("ranked") ?? null)),
        );
        trial.expect(a === b, `as a question ${a}, but ${b} for its text`, inferred);
      });
      await compareAtPlaces(trial, spellings);
    },
  });
}

/** Compares an answer's scores with those of its candidates' texts. One of the allowed renderings must match. */
async function compareAnswer(
  trial: Trial,
  question: unknown,
  instructions: unknown,
  ways: readonly (readonly string[])[],
): Promise<void> {
  const inferred = await trial.infer(SYSTEMONE, { state: "It is noon.", questions: { q: question } });
  const { scores } = scoredOf(trial, inferred, "q");
  const isCached = at(inferred.json, "usage", "cached_pairs") !== 0;
  const tokens = at(inferred.json, "usage", "input_tokens");
  const seen: string[] = [];
  for (const shown of ways) {
    const ranked = await rankScores(trial, "It is noon.", instructions, shown);
    if (JSON.stringify(ranked.scores) === JSON.stringify(scores)) {
      const isKnown = isCached || at(ranked.inferred.json, "usage", "cached_pairs") !== 0;
      trial.expect(
        isKnown || tokens === ranked.tokens,
        `${show(tokens)} tokens, but ${show(ranked.tokens)} for the same texts in a ranking`,
        inferred,
      );
      return;
    }
    seen.push(JSON.stringify(ranked.scores));
  }
  trial.fail(`the scores ${JSON.stringify(scores)}, but ${seen.join(" or ")} for the texts`, inferred);
}
