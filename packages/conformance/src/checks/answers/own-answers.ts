import { type Check, checksOf } from "../../trial/check.ts";
import { CONTRACT_LIMITS } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { areSame, choiceOf, freshState, type IsSame, listScores, scoredOf, scoreOf } from "../scored.ts";
import { twins } from "./twins.ts";

type Questions = Readonly<Record<string, unknown>>;

const TOPICS = ["angry", "happy", "late", "broken", "paid", "lost"];
const noul = (topic: string) => ({ type: "noul", instructions: `Is something ${topic} here?` });
const OUTCOMES = { yes: "A customer says so", no: "Nobody says so", maybe: "It is not clear" };
const choice = (topic: string) => choiceOf(OUTCOMES, `Is something ${topic} here?`);
const rubric = (topic: string) => scoreOf(["not at all", "a little", "very"], `How ${topic} is it?`);
const late = (criteria: object) => ({ ...noul("late"), criteria });

function named(names: readonly string[], question: (topic: string) => unknown): Questions {
  return Object.fromEntries(names.map((name, index) => [name, question(TOPICS[index] ?? name)]));
}

/** Groups of questions of the same form. Only their content distinguishes their answers. */
const GROUPS: Readonly<Record<string, Questions>> = {
  "two yes/no questions": named(["a", "b"], noul),
  "two yes/no questions in reverse alphabetical order": named(["b", "a"], noul),
  "three yes/no questions": named(["a", "b", "c"], noul),
  "six yes/no questions": named(["f", "e", "d", "c", "b", "a"], noul),
  "two choices with the same labels": named(["a", "b"], choice),
  "three choices with the same labels": named(["z", "y", "x"], choice),
  "two scores with equally many levels": named(["a", "b"], rubric),
  "four scores with equally many levels": named(["one", "two", "three", "four"], rubric),
  "names that look like integers": named(["10", "9", "1"], noul),
  "the same labels with each other's descriptions": {
    a: choiceOf({ x: "A refund", y: "A poem" }),
    b: choiceOf({ x: "A poem", y: "A refund" }),
  },
  "the same descriptions in another order": {
    a: scoreOf(["calm", "cross", "furious"]),
    b: scoreOf(["furious", "calm", "cross"]),
  },
  "the same outcomes with other descriptions": {
    a: late({ true: "Past the due date", false: "In time" }),
    b: late({ true: "In time", false: "Past the due date" }),
  },
  "questions of all types, alternating": {
    n1: noul("angry"),
    c1: choice("angry"),
    s1: rubric("angry"),
    n2: noul("lost"),
    c2: choice("lost"),
    s2: rubric("lost"),
  },
  "names that differ only in case, white space or Unicode form": named(
    ["a", "A", " a", "caf\u00e9", "cafe\u0301", "\u00c5"],
    noul,
  ),
  "the same question twice among others": {
    a: noul("angry"),
    b: noul("late"),
    c: noul("angry"),
    d: noul("paid"),
  },
};

/** Concurrent requests of the same form. */
const SIDE_BY_SIDE = 12;

/** Checks that each answer belongs to its own question or request. */
export const OWN_ANSWER_CHECKS: readonly Check[] = checksOf("interface: paths", {
  ...twins<Observation>({
    id: "scores.own-question",
    clause: "Each answer belongs to its own question, also beside others of the same form.",
    expected: "the scores that each question has alone, under its name",
    judge: expectOwn,
    observe: (trial, see) => {
      const state = freshState();
      const known = new Map<string, Promise<readonly number[]>>();
      const scoresAlone = (question: unknown) => {
        const key = JSON.stringify(question);
        const found = known.get(key) ?? scoresOf(trial, state, question);
        known.set(key, found);
        return found;
      };
      return trial.eachOf(GROUPS, async (questions) => {
        const inferred = await trial.infer(SYSTEMONE, { state, questions });
        const alone = await Promise.all(Object.values(questions).map(scoresAlone));
        const kinds = new Set(Object.values(questions).map((one) => JSON.stringify(one))).size;
        expectApart(trial, kinds, alone, inferred);
        for (const [own, name] of Object.keys(questions).entries())
          see({ name, scores: scoredOf(trial, inferred, name).scores, alone, own, inferred });
      });
    },
  }),
  ...twins<Observation>({
    id: "scores.own-place",
    clause: `Each of ${CONTRACT_LIMITS.maxQuestions} questions of one form gets its own answer.`,
    expected: "the scores that each question has if the request asks them in reverse order",
    judge: expectOwn,
    observe: async (trial, see) => {
      const state = freshState();
      const names = Array.from({ length: trial.facts.limits.maxQuestions }, (_, index) => `q${index}`);
      const all = names.map((name, index) => [name, noul(`number ${index}`)]);
      const ask = (entries: typeof all) =>
        trial.infer(SYSTEMONE, { state, questions: Object.fromEntries(entries) });
      const [inferred, back] = [await ask(all), await ask(all.toReversed())];
      const alone = names.map((name) => scoredOf(trial, back, name).scores);
      for (const [own, name] of names.entries())
        see({ name, scores: scoredOf(trial, inferred, name).scores, alone, own, inferred });
    },
  }),
  ...twins<Observation>({
    id: "scores.own-request",
    clause:
      "Each answer belongs to its own request, also beside others of the same form and after a refused one.",
    expected: "the scores that each request has alone, from both operations",
    judge: expectOwn,
    observe: async (trial, see) => {
      const fresh = freshState();
      const places = Array.from({ length: SIDE_BY_SIDE }, (_, place) => place);
      const together = await Promise.all(places.map((place) => askBoth(trial, fresh, place)));
      const alone: typeof together = [];
      for (const place of places) alone.push(await askBoth(trial, fresh, place));
      await trial.post(RANK, { state: fresh }); // refused; it must not affect later answers
      const later = await askBoth(trial, fresh, 0);
      for (const operation of ["answered", "ranked"] as const) {
        const wanted = alone.map((both) => both[operation].scores);
        for (const [own, both] of together.entries()) {
          expectApart(trial, places.length, wanted, both[operation].inferred);
          see({ name: `request ${own}`, ...both[operation], alone: wanted, own });
        }
        see({ name: "request 0 after a refused one", ...later[operation], alone: wanted, own: 0 });
      }
    },
  }),
});

/** Asks both operations about the same state. */
async function askBoth(trial: Trial, fresh: string, place: number) {
  const state = `${fresh} It is number ${place}.`;
  const candidates = ["a refund", "a poem", "a parcel"];
  const [answered, ranked] = await Promise.all([
    trial.infer(SYSTEMONE, { state, questions: { q: noul("late") } }),
    trial.infer(RANK, { state, question: "What is it?", candidates }),
  ]);
  return {
    answered: { scores: scoredOf(trial, answered, "q").scores, inferred: answered },
    ranked: { scores: listScores(trial, ranked, 3), inferred: ranked },
  };
}

async function scoresOf(trial: Trial, state: string, question: unknown): Promise<readonly number[]> {
  return scoredOf(trial, await trial.infer(SYSTEMONE, { state, questions: { q: question } }), "q").scores;
}

/** Scores of a question beside others, and the scores of each question alone. */
interface Observation {
  readonly name: string;
  readonly scores: readonly number[];
  readonly alone: readonly (readonly number[])[];
  /** Index into `alone` of the scores that must be equal. */
  readonly own: number;
  readonly inferred: Inferred;
}

/** Expects different scores for different questions when asked alone; otherwise answers could not be distinguished. */
function expectApart(trial: Trial, kinds: number, alone: Observation["alone"], about: Inferred): void {
  const found = new Set(alone.map((scores) => scores.join())).size;
  trial.expect(
    found >= kinds,
    `${found} different answers to ${kinds} different questions of one form`,
    about,
  );
}

/** Scores this many times closer to another question's than to their own are swapped, not rounded. Chosen. */
const NEARER = 4;

/** Compares scores with those that their question has alone, and with those of the other questions. */
function expectOwn(trial: Trial, { name, scores, alone, own, inferred }: Observation, isSame: IsSame): void {
  const wanted = alone[own] ?? [];
  const distance = distanceOf(scores, wanted);
  const isOther = alone.some((one) => one !== wanted && distanceOf(scores, one) * NEARER < distance);
  const came = `${name} has the scores ${JSON.stringify(scores)}, alone ${JSON.stringify(wanted)}`;
  const isOwn = areSame(scores, wanted, isSame) && !isOther;
  trial.expect(isOwn, isOther ? `${came}; those belong to another` : came, inferred);
}

function distanceOf(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  return Math.max(...one.map((x, index) => Math.abs(x - (other[index] ?? 0))));
}
