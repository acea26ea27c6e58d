import { type Check, defineCheck } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { choiceOf, freshState, isCloseScore, listScores, scoredOf, scoreOf, spreadOf } from "../scored.ts";

type Questions = Readonly<Record<string, unknown>>;

const TOPICS = ["angry", "happy", "late", "broken", "paid", "lost"];
const noul = (topic: string) => ({ type: "noul", instructions: `Is something ${topic} here?` });
const choice = (topic: string) =>
  choiceOf(
    { yes: "A customer says so", no: "Nobody says so", maybe: "It is not clear" },
    `Is something ${topic} here?`,
  );
const rubric = (topic: string) => scoreOf(["not at all", "a little", "very"], `How ${topic} is it?`);

function named(names: readonly string[], question: (topic: string) => unknown): Questions {
  return Object.fromEntries(names.map((name, index) => [name, question(TOPICS[index] ?? name)]));
}

/** Groups of questions of the same form. Only their content distinguishes their answers. */
const GROUPS: readonly { readonly name: string; readonly questions: Questions }[] = [
  { name: "two yes/no questions", questions: named(["a", "b"], noul) },
  { name: "two yes/no questions in reverse alphabetical order", questions: named(["b", "a"], noul) },
  { name: "three yes/no questions", questions: named(["a", "b", "c"], noul) },
  { name: "six yes/no questions", questions: named(["f", "e", "d", "c", "b", "a"], noul) },
  { name: "two choices with the same labels", questions: named(["a", "b"], choice) },
  { name: "three choices with the same labels", questions: named(["z", "y", "x"], choice) },
  { name: "two scores with equally many levels", questions: named(["a", "b"], rubric) },
  { name: "four scores with equally many levels", questions: named(["one", "two", "three", "four"], rubric) },
  { name: "names that look like integers", questions: named(["10", "9", "1"], noul) },
  {
    name: "the same labels with each other's descriptions",
    questions: { a: choiceOf({ x: "A refund", y: "A poem" }), b: choiceOf({ x: "A poem", y: "A refund" }) },
  },
  {
    name: "the same descriptions in another order",
    questions: { a: scoreOf(["calm", "cross", "furious"]), b: scoreOf(["furious", "calm", "cross"]) },
  },
  {
    name: "the same outcomes with other descriptions",
    questions: {
      a: { ...noul("late"), criteria: { true: "Past the due date", false: "In time" } },
      b: { ...noul("late"), criteria: { true: "In time", false: "Past the due date" } },
    },
  },
  {
    name: "questions of all types, alternating",
    questions: {
      n1: noul("angry"),
      c1: choice("angry"),
      s1: rubric("angry"),
      n2: noul("lost"),
      c2: choice("lost"),
      s2: rubric("lost"),
    },
  },
  {
    name: "names that differ only in case, white space or Unicode form",
    questions: named(["a", "A", " a", "caf\u00e9", "cafe\u0301", "\u00c5"], noul),
  },
  {
    name: "the same question twice among others",
    questions: { a: noul("angry"), b: noul("late"), c: noul("angry"), d: noul("paid") },
  },
];

/** Concurrent requests of the same form. */
const SIDE_BY_SIDE = 12;

/** Checks that each answer belongs to its own question or request. */
export const OWN_ANSWER_CHECKS: readonly Check[] = [
  both(
    "scores.own-question",
    "Each answer belongs to its own question, also beside others of the same form.",
    "the scores that each question has alone, under its name",
    async (trial, observe) => {
      const state = freshState();
      const alone = new Map<string, Promise<readonly number[]>>();
      const scoresAlone = (question: unknown) => {
        const key = JSON.stringify(question);
        const known = alone.get(key) ?? scoresOf(trial, state, { q: question }).then((all) => all.q ?? []);
        alone.set(key, known);
        return known;
      };
      await trial.each(GROUPS, async ({ questions }) => {
        const inferred = await trial.infer(SYSTEMONE, { state, questions });
        const wanted = await Promise.all(Object.values(questions).map(scoresAlone));
        expectApart(
          trial,
          new Set(Object.values(questions).map((one) => JSON.stringify(one))).size,
          wanted,
          inferred,
        );
        for (const [index, name] of Object.keys(questions).entries()) {
          const { scores } = scoredOf(trial, inferred, name);
          observe({ name, scores, alone: wanted, own: index, inferred });
        }
      });
    },
  ),
  both(
    "scores.own-place",
    `Each of ${CONTRACT_LIMITS.maxQuestions} questions of one form gets its own answer.`,
    "the scores that each question has if the request asks them in reverse order",
    async (trial, observe) => {
      const state = freshState();
      const names = Array.from({ length: trial.facts.limits.maxQuestions }, (_, index) => `q${index}`);
      const all = Object.fromEntries(names.map((name, index) => [name, noul(`number ${index}`)]));
      const there = await trial.infer(SYSTEMONE, { state, questions: all });
      const back = await trial.infer(SYSTEMONE, {
        state,
        questions: Object.fromEntries(Object.entries(all).toReversed()),
      });
      const reversed = names.map((name) => scoredOf(trial, back, name).scores);
      for (const [own, name] of names.entries()) {
        const { scores } = scoredOf(trial, there, name);
        observe({ name, scores, alone: reversed, own, inferred: there });
      }
    },
  ),
  both(
    "scores.own-request",
    "Each answer belongs to its own request, also beside others of the same form and after a refused one.",
    "the scores that each request has alone, from both operations",
    async (trial, observe) => {
      const places = Array.from({ length: SIDE_BY_SIDE }, (_, index) => index);
      const state = freshState();
      const bodies = places.map((place) => ({
        questions: { state: `${state} It is number ${place}.`, questions: { q: noul("late") } },
        ranking: {
          state: `${state} It is number ${place}.`,
          question: "What is it?",
          candidates: ["a refund", "a poem", "a parcel"],
        },
      }));
      const ask = async ({ questions, ranking }: (typeof bodies)[number]) => {
        const [answered, ranked] = await Promise.all([
          trial.infer(SYSTEMONE, questions),
          trial.infer(RANK, ranking),
        ]);
        return [
          { scores: scoredOf(trial, answered, "q").scores, inferred: answered },
          { scores: listScores(trial, ranked, 3), inferred: ranked },
        ];
      };
      const together = await Promise.all(bodies.map(ask));
      const alone: Awaited<ReturnType<typeof ask>>[] = [];
      for (const body of bodies) alone.push(await ask(body));
      for (const place of places)
        for (const [which, one] of (together[place] ?? []).entries()) {
          const wanted = alone.map((answers) => answers[which]?.scores ?? []);
          expectApart(trial, places.length, wanted, one.inferred);
          observe({
            name: `request ${place}`,
            scores: one.scores,
            alone: wanted,
            own: place,
            inferred: one.inferred,
          });
        }
      const [first] = bodies;
      if (first === undefined) return;
      await trial.post(RANK, { state }); // refused; it must not affect later answers
      for (const [which, one] of (await ask(first)).entries()) {
        const wanted = alone.map((answers) => answers[which]?.scores ?? []);
        const name = "request 0 after a refused one";
        observe({ name, scores: one.scores, alone: wanted, own: 0, inferred: one.inferred });
      }
    },
  ),
].flat();

type IsSame = typeof isCloseScore;

/** Scores of a question beside others, and the scores of each question alone. */
interface Observation {
  readonly name: string;
  readonly scores: readonly number[];
  readonly alone: readonly (readonly number[])[];
  /** Index into `alone` of the scores that must be equal. */
  readonly own: number;
  readonly inferred: Inferred;
}

function both(
  id: string,
  clause: string,
  expected: string,
  run: (trial: Trial, observe: (seen: Observation) => void) => Promise<void>,
): readonly Check[] {
  const judge = async (trial: Trial, isSame: IsSame) => {
    const seen = await trial.shared(id, async () => {
      const found: Observation[] = [];
      await run(trial, (one) => found.push(one));
      return found;
    });
    for (const one of seen) expectOwn(trial, one, isSame);
  };
  return [
    defineCheck({
      id,
      clause,
      source: "interface: paths",
      expected: `${expected} (small differences by batching are allowed)`,
      run: (trial: Trial) => judge(trial, isCloseScore),
    }),
    defineCheck({
      id: `${id}.bits`,
      clause,
      source: "contract: scores",
      expected: `${expected}, to the last bit`,
      run: (trial: Trial) => judge(trial, (one, other) => one === other),
    }),
  ];
}

async function scoresOf(
  trial: Trial,
  state: string,
  questions: Questions,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const inferred = await trial.infer(SYSTEMONE, { state, questions });
  const entries = Object.keys(questions).map((name) => [name, scoredOf(trial, inferred, name).scores]);
  return Object.fromEntries(entries);
}

/** Expects different scores for different questions when asked alone; otherwise answers could not be distinguished. */
function expectApart(
  trial: Trial,
  kinds: number,
  alone: readonly (readonly number[])[],
  inferred: Inferred,
): void {
  const found = new Set(alone.map((scores) => scores.join())).size;
  trial.expect(
    found >= kinds,
    `${found} different answers to ${kinds} different questions of one form`,
    inferred,
  );
}

/** Scores this many times closer to another question's than to their own are swapped, not rounded. Chosen. */
const NEARER = 4;

/** Compares scores with those that their question has alone, and with those of the other questions. */
function expectOwn(trial: Trial, { name, scores, alone, own, inferred }: Observation, isSame: IsSame): void {
  const wanted = alone[own] ?? [];
  const spread = spreadOf(wanted);
  const isOwn = scores.length === wanted.length && scores.every((x, i) => isSame(x, wanted[i] ?? 0, spread));
  const distance = distanceOf(scores, wanted);
  const other = alone.find((one) => one !== wanted && distanceOf(scores, one) * NEARER < distance);
  trial.expect(
    isOwn && other === undefined,
    `${name} has the scores ${JSON.stringify(scores)}, alone ${JSON.stringify(wanted)}${
      other === undefined ? "" : "; those belong to another"
    }`,
    inferred,
  );
}

function distanceOf(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  return Math.max(...one.map((x, index) => Math.abs(x - (other[index] ?? 0))));
}
