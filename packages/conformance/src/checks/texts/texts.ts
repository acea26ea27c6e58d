import { at } from "../../client/json.ts";
import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { choiceOf, freshState, rowsOf, scoredOf, scoreOf } from "../scored.ts";
import {
  CANDIDATES,
  checkTextsStay,
  compareAtPlaces,
  type Effect,
  effectOfRanking,
  expectAlike,
  FLOATS,
  HELD,
  isAlike,
  needsBothOutcomes,
  PADDED,
  SCALARS,
  type Spelling,
  STATES,
  STAY_TEXTS,
  STRUCTURES,
} from "./places.ts";

/** Checks of how values are rendered to texts. They compare values that must score alike, and others that must not. */
export const TEXT_CHECKS: readonly Check[] = [
  ...checksOf("contract: Texts", {
    "texts.scalars": rendering(
      "Integers keep all their digits, booleans become words, strings are trimmed.",
      SCALARS,
    ),
    "texts.floats": rendering("Floats are rendered like Python's repr.", FLOATS),
    "texts.structures": rendering(
      "Objects are rendered as `key: value` fields in input order, arrays as `- item` lines, nested ones indented.",
      STRUCTURES,
    ),
    "texts.state-holds-json": {
      clause: "A string state that contains a JSON object or array is rendered like that value.",
      expected: "the scores and tokens of the object or array itself",
      run: (trial) => trial.each(HELD, ([one, other]) => compareStates(trial, one, other)),
    },
    "texts.only-state-holds-json": {
      clause: "Only a state is parsed as JSON: any other string that contains JSON stays a string.",
      expected:
        "other tokens or scores for instructions, descriptions and candidates given as JSON text than for the parsed value",
      run: checkTextsStay,
    },
    "texts.state-holds-scalars": {
      clause:
        "A string state that contains a JSON number, literal or string stays a string, and so does any string within a state.",
      expected: "other scores or tokens than for the parsed value",
      run: (trial: Trial) =>
        trial.each(STAY_TEXTS, async ([one, other]) => {
          const [seen, like] = [await effectOfState(trial, one), await effectOfState(trial, other)];
          trial.expect(!isAlike(seen, like), `the same scores and tokens as for ${other}`, seen.inferred);
        }),
    },
    "texts.labels-stay": {
      clause: "A label without a description is shown as it is, also if it contains JSON.",
      expected: "other scores than with the parsed value as its description",
      run: async (trial: Trial) => {
        for (const [label, value] of [
          ['{"a":1}', { a: 1 }],
          ['["x","y"]', ["x", "y"]],
        ] as const) {
          const question = (text: unknown) => choiceOf({ [label]: text, other: "Something else" });
          const questions = { bare: question(null), held: question(value) };
          const inferred = await trial.infer(SYSTEMONE, { state: freshState(), questions });
          const [bare, held] = ["bare", "held"].map((name) => scoredOf(trial, inferred, name).scores[0]);
          const came = `the label ${label} has the score ${bare}, the same as the JSON that it contains`;
          trial.expect(bare !== held, came, inferred);
        }
      },
    },
    "texts.trimmed": {
      clause: "Instructions and descriptions are trimmed, including those rendered from other values.",
      expected: "the scores and tokens of the trimmed text, at each place and for each type",
      run: (trial) => compareAtPlaces(trial, PADDED),
    },
    "texts.differ": {
      clause: "Different values are different texts.",
      expected: "other scores or tokens: for another order of fields, another nesting, another number",
      run: async (trial: Trial) => {
        const all: Effect[] = [];
        for (const state of STATES) all.push(await effectOfState(trial, state));
        for (const [index, one] of all.entries()) {
          const same = all.findIndex((other, at) => at > index && isAlike(one, other));
          trial.expect(same < 0, `${STATES[index]} and ${STATES[same]} score alike`, one.inferred);
        }
      },
    },
    "texts.levels": {
      clause: "A level is shown as its description.",
      expected: "the scores that `rank` gives to the rendered texts",
      run: (trial) => {
        const levels = ["can wait", 5, { a: 1 }, ["x", true]];
        const shown = ["can wait", "5", "a: 1", "- x\n- true"];
        return compareAnswer(trial, scoreOf(levels, "How urgent?"), [shown]);
      },
    },
    "texts.labels": {
      clause:
        "A label is shown as its description, with or without the label in front; without a description, as the label.",
      expected: "the scores that `rank` gives to those texts",
      run: (trial) => {
        const refund = "Wants money back";
        const criteria = { refund, cancel: null, fault: " ", same: "same", pad: "\tpad ", n: 5 };
        const plain = [refund, "cancel", "fault", "same", "pad", "5"];
        const labelled = [`refund: ${refund}`, "cancel", "fault", "same", "pad", "n: 5"];
        return compareAnswer(trial, choiceOf(criteria, "What is it?"), [plain, labelled]);
      },
    },
    "texts.noul-described": noul(
      "A described outcome is shown as `false: <description>` or `true: <description>`.",
      { instructions: "Is it late?", criteria: { false: "On time", true: { due: "past" } } },
      ["false: On time", "true: due: past"],
    ),
    "texts.noul-default": noul(
      "An outcome without a description is shown with the contract's default words and the instructions.",
      { instructions: "Is it late?" },
      ["false: No. This is false: Is it late?", "true: Yes. This is true: Is it late?"],
    ),
    "texts.noul-half": noul(
      "If one outcome is described, the other keeps its default words.",
      { instructions: { is: "late" }, criteria: { yes: "Past the due date" } },
      ["false: No. This is false: is: late", "true: Past the due date"],
    ),
    "texts.noul-bare": noul(
      "With blank instructions too, the outcomes are shown as `false: false` and `true: true`.",
      { instructions: " ", criteria: null },
      ["false: false", "true: true"],
    ),
    "texts.rank-labels-hidden": {
      clause: "The labels of a ranking's candidates are never shown to the model.",
      expected: "the same scores under other labels",
      run: async (trial) => {
        const scores = async (labels: readonly string[]) => {
          const candidates = Object.fromEntries(labels.map((label, at) => [label, CANDIDATES[at] ?? ""]));
          const inferred = await trial.infer(RANK, { state: "s", question: "Which?", candidates });
          const byText = rowsOf(trial, inferred).map(({ text, score }) => [text, score]);
          return { inferred, text: JSON.stringify(byText) };
        };
        const plain = await scores(["x", "y", "z"]);
        const other = await scores([`${MARK} label`, "another long label", "third"]);
        trial.equal("the ranking under other labels", other.text, plain.text, other.inferred);
      },
    },
  }),
  ...checksOf("contract: systemone, rank", {
    "texts.trimmed-candidates": {
      clause: "The candidates of a ranking are trimmed before scoring.",
      expected: "the scores and tokens of the same candidates trimmed",
      run: async (trial) => {
        const state = freshState();
        const padded = [" one thing ", "\n\tanother one", "order 1 is paid\u00a0"];
        const seen = await effectOfRanking(trial, { state, candidates: padded });
        const like = await effectOfRanking(trial, { state, candidates: CANDIDATES });
        expectAlike(trial, "the trimmed candidates", seen, like);
      },
    },
  }),
];

/** The effect of a state given as JSON text. */
function effectOfState(trial: Trial, state: string): Promise<Effect> {
  const candidates = JSON.stringify(CANDIDATES);
  return effectOfRanking(trial, `{"state":${state},"question":"Which?","candidates":${candidates}}`);
}

async function compareStates(trial: Trial, given: string, like: string): Promise<void> {
  expectAlike(trial, like, await effectOfState(trial, given), await effectOfState(trial, like));
}

function rendering(clause: string, spellings: readonly Spelling[]): Draft {
  return {
    clause,
    expected:
      "the scores and tokens of the rendered text: as a state, as a question, as instructions and as a description",
    run: async (trial) => {
      await trial.each(spellings, async ([one, other]) => {
        const text = JSON.stringify(other);
        await compareStates(trial, one, text);
        const asked = (question: string) =>
          effectOfRanking(
            trial,
            `{"state":"s","question":${question},"candidates":${JSON.stringify(CANDIDATES)}}`,
          );
        expectAlike(trial, `the question ${text}`, await asked(one), await asked(text));
      });
      await compareAtPlaces(trial, spellings);
    },
  };
}

interface Question {
  readonly type?: string;
  readonly instructions: unknown;
  readonly criteria?: unknown;
}

function noul(clause: string, question: Question, shown: readonly string[]): Draft {
  return {
    clause,
    expected: `the scores that \`rank\` gives to ${shown.map((text) => JSON.stringify(text)).join(" and ")}`,
    run: async (trial) => {
      await needsBothOutcomes(trial);
      await compareAnswer(trial, { type: "noul", ...question }, [shown]);
    },
  };
}

/** Compares an answer with a ranking of its candidates' texts. One of the allowed renderings must match. */
async function compareAnswer(
  trial: Trial,
  question: Question,
  ways: readonly (readonly string[])[],
): Promise<void> {
  const state = "It is noon.";
  const inferred = await trial.infer(SYSTEMONE, { state, questions: { q: question } });
  const { scores } = scoredOf(trial, inferred, "q");
  const tokensOf = ({ json }: typeof inferred) =>
    at(json, "usage", "cached_pairs") === 0 ? at(json, "usage", "input_tokens") : undefined;
  const seen: string[] = [];
  for (const candidates of ways) {
    const ranked = await trial.infer(RANK, { state, question: question.instructions, candidates });
    const byPlace = rowsOf(trial, ranked).toSorted((a, b) => Number(a.candidate) - Number(b.candidate));
    const like = byPlace.map(({ score }) => score).join();
    seen.push(like);
    if (like !== scores.join()) continue;
    const [own, other] = [tokensOf(inferred), tokensOf(ranked)];
    if (own !== undefined && other !== undefined) trial.equal("the count", own, other, inferred);
    return;
  }
  trial.fail(`the scores ${scores.join()}, but ${seen.join(" or ")} for the texts`, inferred);
}
