import { type Check, checksOf, type Drafts } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import {
  ask,
  CHOICE,
  choiceOf,
  expectSameScores,
  listScores,
  NOULS,
  rankScores,
  SCORE,
  STATE,
  scoredOf,
  scoreOf,
  spreadOf,
  texts,
} from "../scored.ts";
import { twins } from "./twins.ts";

/** Candidates of the small ranking that the largest one is compared with. */
const FEW = 8;

type Questions = Readonly<Record<string, unknown>>;
const QUESTIONS: Questions = {
  intent: CHOICE,
  urgency: SCORE,
  angry: NOULS[0],
  long: scoreOf(
    texts(9).map((text) => `${text} with a few words more`),
    "Which level is it, all in all?",
  ),
  pick: choiceOf({ one: "The first", two: "The second", three: null }),
};
const reversed = (all: Questions): Questions => Object.fromEntries(Object.entries(all).reverse());
const LEVELS = ["can wait", "this week", "today"];
const TWO = ["early", "late"];

/** A pair's score depends on nothing but the pair. */
export const INDEPENDENCE_CHECKS: readonly Check[] = [
  ...checksOf("interface: Scores and probabilities", {
    ...independent("again", "A repeated request gets the same scores", async (trial, same) => {
      const before = await all(trial, QUESTIONS);
      for (let count = 0; count < 3; count += 1) same(before, await all(trial, QUESTIONS));
    }),
    ...independent(
      "alone",
      "A question has the same scores alone and together with other questions",
      async (trial, same) => {
        const together = await all(trial, QUESTIONS);
        for (const [name, question] of Object.entries(QUESTIONS))
          same(together, await all(trial, { [name]: question }));
      },
    ),
    ...independent(
      "order",
      "A question has the same scores in any order of the questions",
      async (trial, same) => same(await all(trial, QUESTIONS), await all(trial, reversed(QUESTIONS))),
    ),
    ...independent(
      "company",
      "A question has the same scores together with much longer questions",
      async (trial, same) => {
        const long = scoreOf(["go ".repeat(120), "stay ".repeat(150), "x"], "word ".repeat(200));
        same(await all(trial, QUESTIONS), await all(trial, { long, ...QUESTIONS }));
      },
    ),
    ...independent(
      "concurrency",
      "A question has the same scores while other requests are served",
      async (trial, same) => {
        const before = await all(trial, QUESTIONS);
        const others = Array.from({ length: 6 }, (_, index) => {
          const state = `other ${index} ${"go ".repeat(40 * index)}`;
          return trial.infer(RANK, { state, candidates: texts(3 + index) });
        });
        const own = Object.entries(QUESTIONS).map(([name, question]) => all(trial, { [name]: question }));
        // together, so that a failure of one leaves no promise unhandled
        const [found] = await Promise.all([Promise.all(own), Promise.all(others)]);
        for (const answers of found) same(before, answers);
      },
    ),
    ...independent(
      "candidates",
      "A candidate has the same score in any order and beside any other candidates",
      async (trial, same) => {
        const candidates = texts(8);
        const whole = await ranking(trial, candidates);
        same(whole, await ranking(trial, candidates.toReversed()));
        same(whole, await ranking(trial, candidates.slice(2, 4)));
      },
    ),
    ...independent(
      "many-candidates",
      `A candidate among ${CONTRACT_LIMITS.maxCandidates} has the same score as among a few`,
      async (trial, same) => {
        const most = trial.facts.limits.maxCandidates;
        const candidates = texts(most);
        const whole = await ranking(trial, candidates);
        for (const from of [0, (most * 3) >> 3, most - FEW])
          same(whole, await ranking(trial, candidates.slice(from, from + FEW)));
      },
      false,
    ),
    ...independent(
      "spelling",
      "The JSON notation of a request does not affect the scores",
      async (trial, same) => {
        const question = JSON.stringify(CHOICE);
        const members = `"state":${JSON.stringify(STATE)},"questions":{"q":${question}}`;
        const { modelId } = trial.facts;
        const first = answersOf(trial, await trial.infer(SYSTEMONE, `{${members}}`), ["q"]);
        for (const body of [
          `{"questions":{"q":${question}},"state":${JSON.stringify(STATE)}}`,
          ` {\n  "state" : ${escaped(STATE)} ,\t"questions" : { "q" : ${question} } }\n`,
          ...(modelId === undefined ? [] : [`{"model":${JSON.stringify(modelId)},${members}}`]),
        ])
          same(first, answersOf(trial, await trial.infer(SYSTEMONE, body), ["q"]));
        const answers = texts(4);
        const aliased = await trial.infer(RANK, { answers, question: "Which level?", context: STATE });
        const scores = listScores(trial, aliased, answers.length);
        same(await ranking(trial, answers), byText(answers, scores, aliased));
      },
    ),
    ...independent(
      "criteria-order",
      "A label has the same score in any order of the labels",
      async (trial, same) => {
        const turned = { ...CHOICE, criteria: reversed(CHOICE.criteria) };
        same(await all(trial, { q: CHOICE }), await all(trial, { q: turned }));
      },
    ),
    ...independent("names", "Names of questions do not affect the scores", async (trial, same) => {
      const { scores, inferred } = await all(trial, { "something else entirely": CHOICE });
      const renamed = [...scores].map(([label, score]): [string, number] => [
        label.replace("something else entirely", "plain"),
        score,
      ]);
      same(await all(trial, { plain: CHOICE }), { scores: new Map(renamed), inferred });
    }),
    "scores.depend-on-all": {
      clause: "State, question and candidate are scored together: each of them affects the score.",
      expected: "other scores for another state, another question, another candidate",
      run: async (trial: Trial) => {
        const candidates = ["A refund is wanted.", "A parcel is late."];
        const base = await rankScores(trial, STATE, "What is it about?", candidates);
        const state = await rankScores(trial, "My parcel has not come.", "What is it about?", candidates);
        const question = await rankScores(trial, STATE, "What would be bad?", candidates);
        for (const [what, other] of Object.entries({ state, question })) {
          const differs = base.scores.some((score, index) => score !== other.scores[index]);
          trial.expect(differs, `the same scores for another ${what}`, other.inferred);
        }
        trial.expect(base.scores[0] !== base.scores[1], "the same score for two candidates", base.inferred);
      },
    },
  }),
  ...checksOf("contract: Texts", {
    "scores.rank-as-rubric": {
      clause: "A ranking and a rubric of the same texts give the same scores.",
      expected: "the scores of `rank` for a `score` question with the same texts as levels",
      run: async (trial) => {
        const ranked = await rankScores(trial, STATE, "How urgent is it?", LEVELS);
        const { scores } = await ask(trial, scoreOf(LEVELS, "How urgent is it?"));
        expectSameScores(trial, scores, ranked.scores, ranked.inferred);
      },
    },
  }),
  ...checksOf("contract: Requests", {
    "rank.null-question": {
      clause: "A `question` of null counts as absent.",
      expected: 'the scores that `question: ""` gives, to the last bit',
      run: (trial) => checkLikeBlank(trial, null),
    },
  }),
  ...checksOf("interface: RankRequest", {
    "rank.default-question": {
      clause: "An absent `question` is the empty string.",
      expected: 'the scores that `question: ""` gives',
      run: (trial) => checkLikeBlank(trial, undefined),
    },
  }),
];

async function checkLikeBlank(trial: Trial, question: unknown): Promise<void> {
  const blank = await rankScores(trial, STATE, "", TWO);
  const { scores, inferred } = await rankScores(trial, STATE, question, TWO);
  expectSameScores(trial, scores, blank.scores, inferred);
}

interface Answers {
  /** Keyed by question and label, or by candidate. */
  readonly scores: ReadonlyMap<string, number>;
  readonly inferred: Inferred;
}

function independent(
  name: string,
  clause: string,
  run: (trial: Trial, same: (before: Answers, after: Answers) => void) => Promise<void>,
  isGentle = true,
): Drafts {
  return twins<readonly [Answers, Answers]>({
    id: `scores.${name}`,
    clause: `${clause}.`,
    expected: "the same scores",
    isGentle,
    observe: (trial, see) => run(trial, (before, after) => see([before, after])),
    judge: (trial: Trial, [before, after], isSame) => {
      const spread = spreadOf([...before.scores.values()]);
      for (const [label, score] of after.scores) {
        const known = before.scores.get(label);
        const isKept = known !== undefined && isSame(score, known, spread);
        trial.expect(isKept, `${label} has the score ${score}, and ${known} before`, after.inferred);
      }
    },
  });
}

/** A JSON string with every character escaped. */
function escaped(text: string): string {
  const codes = [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${codes.join("")}"`;
}

async function all(trial: Trial, questions: Questions): Promise<Answers> {
  const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
  return answersOf(trial, inferred, Object.keys(questions));
}

function answersOf(trial: Trial, inferred: Inferred, names: readonly string[]): Answers {
  const entries = names.flatMap((name) => {
    const { labels, scores } = scoredOf(trial, inferred, name);
    return labels.map((label, at): [string, number] => [`${name} / ${label}`, scores[at] ?? Number.NaN]);
  });
  return { scores: new Map(entries), inferred };
}

async function ranking(trial: Trial, candidates: readonly string[]): Promise<Answers> {
  const { scores, inferred } = await rankScores(trial, STATE, "Which level?", candidates);
  return byText(candidates, scores, inferred);
}

function byText(candidates: readonly string[], scores: readonly number[], inferred: Inferred): Answers {
  return { scores: new Map(candidates.map((text, at) => [text, scores[at] ?? Number.NaN])), inferred };
}
