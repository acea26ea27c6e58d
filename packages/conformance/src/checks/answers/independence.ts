import { type Check, defineCheck } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import {
  ask,
  CHOICE,
  choiceOf,
  isCloseScore,
  isSameScore,
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

/** Candidates of the small ranking that the largest one is compared with. */
const FEW = 8;

const QUESTIONS: Readonly<Record<string, unknown>> = {
  intent: CHOICE,
  urgency: SCORE,
  angry: NOULS[0],
  long: scoreOf(
    texts(9).map((text) => `${text} with a few words more`),
    "Which level is it, all in all?",
  ),
  pick: choiceOf({ one: "The first", two: "The second", three: null }),
};
const CLOSE = "nearly the same scores (small differences by batching are allowed)";
const SAME = "the same scores to the last bit";

/**
 * A pair's score depends on nothing but the pair. Each rule has two checks: the profile `seed` allows small
 * differences, the profile `full` none.
 */
export const INDEPENDENCE_CHECKS: readonly Check[] = [
  ...inBothProfiles("again", "A repeated request gets the same scores", async (trial: Trial, same) => {
    const before = await all(trial, QUESTIONS);
    for (let count = 0; count < 3; count += 1) same(before, await all(trial, QUESTIONS));
  }),
  ...inBothProfiles(
    "alone",
    "A question has the same scores alone and together with other questions",
    async (trial: Trial, same) => {
      const together = await all(trial, QUESTIONS);
      for (const [name, question] of Object.entries(QUESTIONS))
        same(together, await all(trial, { [name]: question }));
    },
  ),
  ...inBothProfiles(
    "order",
    "A question has the same scores in any order of the questions",
    async (trial: Trial, same) => {
      const reversed = Object.fromEntries(Object.entries(QUESTIONS).reverse());
      same(await all(trial, QUESTIONS), await all(trial, reversed));
    },
  ),
  ...inBothProfiles(
    "company",
    "A question has the same scores together with much longer questions",
    async (trial: Trial, same) => {
      const long = scoreOf(["go ".repeat(120), "stay ".repeat(150), "x"], "word ".repeat(200));
      same(await all(trial, QUESTIONS), await all(trial, { long, ...QUESTIONS }));
    },
  ),
  ...inBothProfiles(
    "concurrency",
    "A question has the same scores while other requests are served",
    async (trial: Trial, same) => {
      const before = await all(trial, QUESTIONS);
      const others = Array.from({ length: 6 }, (_, index) =>
        trial.infer(RANK, {
          state: `other ${index} ${"go ".repeat(40 * index)}`,
          candidates: texts(3 + index),
        }),
      );
      const own = Object.entries(QUESTIONS).map(([name, question]) => all(trial, { [name]: question }));
      // together, so that a failure of one leaves no promise unhandled
      const [found] = await Promise.all([Promise.all(own), Promise.all(others)]);
      for (const answers of found) same(before, answers);
    },
  ),
  ...inBothProfiles(
    "candidates",
    "A candidate has the same score in any order and beside any other candidates",
    async (trial: Trial, same) => {
      const candidates = texts(8);
      const whole = await rankScores(trial, STATE, "Which one?", candidates);
      const reversed = await rankScores(trial, STATE, "Which one?", candidates.toReversed());
      const part = await rankScores(trial, STATE, "Which one?", candidates.slice(2, 4));
      same(
        scoreMap(candidates, whole.scores, whole.inferred),
        scoreMap(candidates.toReversed(), reversed.scores, reversed.inferred),
      );
      same(
        scoreMap(candidates, whole.scores, whole.inferred),
        scoreMap(candidates.slice(2, 4), part.scores, part.inferred),
      );
    },
  ),
  ...inBothProfiles(
    "many-candidates",
    `A candidate among ${CONTRACT_LIMITS.maxCandidates} has the same score as among a few`,
    async (trial: Trial, same) => {
      const most = trial.facts.limits.maxCandidates;
      const candidates = texts(most);
      const whole = await rankScores(trial, STATE, "Which level?", candidates);
      const known = scoreMap(candidates, whole.scores, whole.inferred);
      for (const from of [0, (most * 3) >> 3, most - FEW]) {
        const few = candidates.slice(from, from + FEW);
        const part = await rankScores(trial, STATE, "Which level?", few);
        same(known, scoreMap(few, part.scores, part.inferred));
      }
    },
    { isGentle: false },
  ),
  ...inBothProfiles(
    "spelling",
    "The JSON notation of a request does not affect the scores",
    async (trial: Trial, same) => {
      const question = JSON.stringify(CHOICE);
      const bodies = [
        `{"state":${JSON.stringify(STATE)},"questions":{"q":${question}}}`,
        `{"questions":{"q":${question}},"state":${JSON.stringify(STATE)}}`,
        ` {\n  "state" : ${escaped(STATE)} ,\t"questions" : { "q" : ${question} } }\n`,
        ...(trial.facts.modelId === undefined
          ? []
          : [
              `{"model":${JSON.stringify(trial.facts.modelId)},"state":${JSON.stringify(STATE)},"questions":{"q":${question}}}`,
            ]),
      ];
      const answers = [];
      for (const body of bodies) answers.push(answersOf(trial, await trial.infer(SYSTEMONE, body), ["q"]));
      const [first, ...others] = answers;
      for (const other of others) if (first !== undefined) same(first, other);
      const candidates = texts(4);
      const plain = await rankScores(trial, STATE, "Which level?", candidates);
      const aliased = await trial.infer(RANK, {
        answers: candidates,
        question: "Which level?",
        context: STATE,
      });
      same(
        scoreMap(candidates, plain.scores, plain.inferred),
        scoreMap(candidates, listScores(trial, aliased, candidates.length), aliased),
      );
    },
  ),
  ...inBothProfiles(
    "criteria-order",
    "A label has the same score in any order of the labels",
    async (trial: Trial, same) => {
      const criteria = Object.entries(CHOICE.criteria);
      const answers = await all(trial, { q: { ...CHOICE, criteria: Object.fromEntries(criteria) } });
      same(answers, await all(trial, { q: { ...CHOICE, criteria: Object.fromEntries(criteria.reverse()) } }));
    },
  ),
  ...inBothProfiles("names", "Names of questions do not affect the scores", async (trial: Trial, same) => {
    const { scores, inferred } = await all(trial, { plain: CHOICE });
    const renamed = await all(trial, { "something else entirely": CHOICE });
    const moved = new Map(
      [...renamed.scores].map(([label, score]) => [label.replace("something else entirely", "plain"), score]),
    );
    same({ scores, inferred }, { ...renamed, scores: moved });
  }),
  defineCheck({
    id: "scores.rank-as-rubric",
    clause: "A ranking and a rubric of the same texts give the same scores.",
    source: "contract: Texts",
    expected: "the scores of `rank` for a `score` question with the same texts as levels",
    run: async (trial: Trial) => {
      const levels = ["can wait", "this week", "today"];
      const ranked = await rankScores(trial, STATE, "How urgent is it?", levels);
      const asked = await ask(trial, scoreOf(levels, "How urgent is it?"));
      trial.expect(
        JSON.stringify(asked.scores) === JSON.stringify(ranked.scores),
        `${JSON.stringify(asked.scores)} as levels, ${JSON.stringify(ranked.scores)} as candidates`,
        ranked.inferred,
      );
    },
  }),
  defineCheck({
    id: "scores.depend-on-all",
    clause: "State, question and candidate are scored together: each of them affects the score.",
    source: "interface: Scores and probabilities",
    expected: "other scores for another state, another question, another candidate",
    run: async (trial: Trial) => {
      const candidates = ["A refund is wanted.", "A parcel is late."];
      const base = await rankScores(trial, STATE, "What is it about?", candidates);
      const state = await rankScores(trial, "My parcel has not come.", "What is it about?", candidates);
      const question = await rankScores(trial, STATE, "What would be bad?", candidates);
      const differs = (one: readonly number[], other: readonly number[]) =>
        one.some((x, i) => x !== other[i]);
      trial.expect(differs(base.scores, state.scores), "the same scores for another state", state.inferred);
      trial.expect(
        differs(base.scores, question.scores),
        "the same scores for another question",
        question.inferred,
      );
      trial.expect(base.scores[0] !== base.scores[1], "the same score for two candidates", base.inferred);
    },
  }),
  defineCheck({
    id: "rank.null-question",
    clause: "A `question` of null counts as absent.",
    source: "contract: Requests",
    expected: 'the scores that `question: ""` gives, to the last bit',
    run: async (trial: Trial) => {
      const candidates = ["early", "late"];
      const empty = await rankScores(trial, STATE, "", candidates);
      const inferred = await trial.infer(RANK, { state: STATE, question: null, candidates });
      const scores = listScores(trial, inferred, candidates.length);
      trial.expect(
        scores.join() === empty.scores.join(),
        `${scores.join()}, and ${empty.scores.join()} without a question`,
        inferred,
      );
    },
  }),
  defineCheck({
    id: "rank.default-question",
    clause: "An absent `question` is the empty string.",
    source: "interface: RankRequest",
    expected: 'the scores that `question: ""` gives',
    run: async (trial: Trial) => {
      const candidates = ["early", "late"];
      const empty = await rankScores(trial, STATE, "", candidates);
      const absent = await rankScores(trial, STATE, undefined, candidates);
      const isSame = absent.scores.every((score, i) =>
        isSameScore(trial, score, empty.scores[i] ?? Number.NaN, spreadOf(empty.scores)),
      );
      trial.expect(
        isSame,
        `${JSON.stringify(absent.scores)} without a question, ${JSON.stringify(empty.scores)} with an empty one`,
        absent.inferred,
      );
    },
  }),
];

interface Answers {
  /** Keyed by question and label. */
  readonly scores: ReadonlyMap<string, number>;
  readonly inferred: Inferred;
}
type Same = (before: Answers, after: Answers) => unknown;

function inBothProfiles(
  name: string,
  clause: string,
  run: (trial: Trial, same: Same) => Promise<void>,
  others: { readonly isGentle?: boolean } = {},
): readonly Check[] {
  const draft = (id: string, expected: string, source: string, isSame: typeof isCloseScore) =>
    defineCheck({
      ...others,
      id,
      clause: `${clause}.`,
      source,
      expected,
      run: async (trial: Trial) => {
        const pairs = await trial.shared(`scores.${name}`, async () => {
          const found: (readonly [Answers, Answers])[] = [];
          await run(trial, (before, after) => found.push([before, after]));
          return found;
        });
        for (const [before, after] of pairs) compare(trial, before, after, isSame);
      },
    });
  return [
    draft(`scores.${name}`, CLOSE, "interface: Scores and probabilities", isCloseScore),
    draft(`scores.${name}.bits`, SAME, "contract: scores", (one, other) => one === other),
  ];
}

function compare(trial: Trial, before: Answers, after: Answers, isSame: typeof isCloseScore): void {
  const spread = spreadOf([...before.scores.values()]);
  for (const [label, score] of after.scores) {
    const known = before.scores.get(label);
    trial.expect(
      known !== undefined && isSame(score, known, spread),
      `${label} has the score ${score}, and ${known} before`,
      after.inferred,
    );
  }
}

/** A JSON string with every character escaped. */
function escaped(text: string): string {
  const codes = [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${codes.join("")}"`;
}

async function all(trial: Trial, questions: Readonly<Record<string, unknown>>): Promise<Answers> {
  const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions });
  return answersOf(trial, inferred, Object.keys(questions));
}

function answersOf(trial: Trial, inferred: Inferred, names: readonly string[]): Answers {
  const entries = names.flatMap((name) => {
    const { labels, scores } = scoredOf(trial, inferred, name);
    return labels.map((label, index): [string, number] => [
      `${name} / ${label}`,
      scores[index] ?? Number.NaN,
    ]);
  });
  return { scores: new Map(entries), inferred };
}

function scoreMap(candidates: readonly string[], scores: readonly number[], inferred: Inferred): Answers {
  return { scores: new Map(candidates.map((text, i) => [text, scores[i] ?? Number.NaN])), inferred };
}
