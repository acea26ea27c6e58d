import { type Check, defineCheck } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { nonce } from "../../trial/salts.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { choiceOf, listScores, scoredOf, scoreOf } from "../scored.ts";

/** Words of the long texts. All have three letters, so that two texts do not differ in length. */
const WORDS = ["red", "dog", "sun", "cup", "map", "box", "hat", "key"];
/** Lengths in words: of texts limited to 768 tokens, and of those that may be longer. */
const SHORT_TEXT = 80;
const LONG_TEXT = 300;

interface Variant {
  readonly name: string;
  readonly text: string;
}

/** A text, and variants of it that differ in one word or in the order of two words. */
function variants(count: number): readonly Variant[] {
  const words = Array.from({ length: count }, (_, index) => WORDS[(index * 5 + (index >> 3)) % 8] ?? "");
  const text = (changed: ReadonlyMap<number, string>) =>
    words.map((word, index) => changed.get(index) ?? word).join(" ");
  const places = [0, 9, 17, 33, 65, 130, 258]
    .filter((place) => place < count)
    .concat([count >> 1, count - 1]);
  const middle = count >> 1;
  const next = words.findIndex((word, index) => index > middle && word !== words[middle]);
  const turned = new Map([
    [middle, words[next] ?? ""],
    [next, words[middle] ?? ""],
  ]);
  return [
    { name: "the text itself", text: text(new Map()) },
    ...[...new Set(places)].map((place) => ({
      name: `another word after ${place * 4} of ${count * 4} characters`,
      text: text(new Map([[place, "ice"]])),
    })),
    { name: "two words swapped", text: text(turned) },
    { name: "a comma within", text: text(new Map([[middle, `${words[middle]},`]])) },
    { name: "a question mark at the end", text: `${text(new Map())}?` },
  ];
}

/** Checks that all of each text reaches the model. A truncated text or a cache key of only a part would fail them. */
export const DEPENDENCE_CHECKS: readonly Check[] = [
  dependence("state", "a state", LONG_TEXT, async (trial, texts, salt) => {
    const ask = (text: string) =>
      rankOne(trial, { state: `${text} ${salt}`, question: "Which one?", candidates: ["a cup", "a map"] });
    return await oneByOne(texts, ask);
  }),
  dependence("question", "the question of a ranking", LONG_TEXT, async (trial, texts, salt) => {
    const ask = (text: string) =>
      rankOne(trial, { state: salt, question: text, candidates: ["a cup", "a map"] });
    return await oneByOne(texts, ask);
  }),
  dependence("instructions", "the instructions of a question", SHORT_TEXT, async (trial, texts, salt) => {
    const criteria = { choice: { a: "A cup", b: "A map" }, score: ["a cup", "a map"], noul: undefined };
    const found: Scores[] = [];
    for (const [type, described] of Object.entries(criteria)) {
      const questions = Object.fromEntries(
        texts.map((instructions, index) => [`n${index}`, { type, instructions, criteria: described }]),
      );
      const inferred = await trial.infer(SYSTEMONE, { state: salt, questions });
      for (const index of texts.keys())
        found.push({ group: type, scores: scoredOf(trial, inferred, `n${index}`).scores, inferred });
    }
    return found;
  }),
  dependence("candidate", "a candidate", SHORT_TEXT, async (trial, texts, salt) => {
    const inferred = await trial.infer(RANK, { state: salt, question: "Which one?", candidates: texts });
    return listScores(trial, inferred, texts.length).map((score) => ({ scores: [score], inferred }));
  }),
  dependence("description", "a description", SHORT_TEXT, async (trial, texts, salt) => {
    const each = (form: string, question: (text: string) => unknown) =>
      texts.map((text, index): [string, unknown] => [`${form}${index}`, question(text)]);
    const found: Scores[] = [];
    for (const [form, question] of [
      ["label", (text: string) => choiceOf({ a: text, b: "none of it" })],
      ["outcome", (text: string) => ({ type: "noul", instructions: "Is it so?", criteria: { true: text } })],
    ] as const) {
      const questions = Object.fromEntries(each(form, question));
      const inferred = await trial.infer(SYSTEMONE, { state: salt, questions });
      for (const name of Object.keys(questions))
        found.push({ group: form, scores: scoredOf(trial, inferred, name).scores, inferred });
    }
    const inferred = await trial.infer(SYSTEMONE, { state: salt, questions: { q: scoreOf(texts) } });
    const levels = scoredOf(trial, inferred, "q").scores;
    return [...found, ...levels.map((score) => ({ group: "level", scores: [score], inferred }))];
  }),
  defineCheck({
    id: "scores.whole-structure",
    clause: "Every member of a structured state affects the scores, at any width and depth.",
    source: "contract: Texts",
    expected: "other scores for states that differ in one name, one value or one element",
    run: checkStructures,
  }),
  defineCheck({
    id: "scores.as-sent",
    clause:
      "A text reaches the model as it was sent: punctuation, tags, entities and quotation marks included.",
    source: "interface: Scores and probabilities",
    expected: "other scores for texts that differ only in such characters, in any member",
    run: checkAsSent,
  }),
  defineCheck({
    id: "scores.borders",
    clause: "State, question and candidate are separate texts: the boundary between them matters.",
    source: "interface: Scores and probabilities",
    expected: "other scores if a part of one text moves across the boundary to the next",
    run: checkBorders,
  }),
  defineCheck({
    id: "scores.again-elsewhere",
    clause:
      "Earlier requests do not affect the scores, not even ones with the same question or the same state.",
    source: "interface: Scores and probabilities",
    expected:
      "other scores for another state under the same question, and for another question of the same state",
    run: checkElsewhere,
  }),
];

interface Scores {
  /** Texts are compared within a group only. */
  readonly group?: string;
  readonly scores: readonly number[];
  readonly inferred: Inferred;
}

function dependence(
  what: string,
  subject: string,
  length: number,
  ask: (trial: Trial, texts: readonly string[], salt: string) => Promise<readonly Scores[]>,
): Check {
  return defineCheck({
    id: `scores.whole-${what}`,
    clause: `Every word of ${subject} affects the scores, at any position.`,
    source: "interface: Scores and probabilities",
    expected: "other scores for texts that differ in one word, or in the order of two words",
    run: async (trial: Trial) => {
      const all = variants(length);
      const texts = all.map(({ text }) => text);
      const names = all.map(({ name }) => name);
      const equal = equals(names, await ask(trial, texts, nonce()));
      if (equal.length === 0) return;
      // two of so many scores may be equal by chance, but not the same two again
      const again = new Set(equals(names, await ask(trial, texts, nonce())).map(({ pair }) => pair));
      for (const { pair, inferred } of equal)
        trial.expect(!again.has(pair), `the same scores for ${pair}`, inferred);
    },
  });
}

/** Pairs of texts with the same scores. `found` has the scores of all texts, once or for each group in turn. */
function equals(names: readonly string[], found: readonly Scores[]) {
  const known = new Map<string, string>();
  return found.flatMap(({ group = "", scores, inferred }, index) => {
    const name = names[index % names.length] ?? "";
    const key = `${group} ${scores.join()}`;
    const same = known.get(key);
    known.set(key, name);
    return same === undefined ? [] : [{ pair: `${name} as for ${same}`, inferred }];
  });
}

async function rankOne(
  trial: Trial,
  body: { candidates: readonly string[]; state: string; question: string },
) {
  const inferred = await trial.infer(RANK, body);
  return { scores: listScores(trial, inferred, body.candidates.length), inferred };
}

async function oneByOne(
  texts: readonly string[],
  ask: (text: string) => Promise<Scores>,
): Promise<readonly Scores[]> {
  const found: Scores[] = [];
  for (const text of texts) found.push(await ask(text));
  return found;
}

const LOOKALIKES = [
  "cats and dogs",
  "cats and dogs.",
  '"cats and dogs"',
  "cats & dogs",
  "cats &amp; dogs",
  "cats <b>and</b> dogs",
  "cats and dogs \u{1f600}",
  "cats and dogs\nand mice",
];

async function checkAsSent(trial: Trial): Promise<void> {
  const state = nonce();
  const candidates = ["a cup", "a map"];
  const expectApart = (what: string, found: readonly Scores[]) => {
    const known = new Map<string, string | undefined>();
    for (const [index, { scores, inferred }] of found.entries()) {
      const same = known.get(scores.join());
      const text = JSON.stringify(LOOKALIKES[index]);
      trial.expect(same === undefined, `the same scores for the ${what} ${text} as for ${same}`, inferred);
      known.set(scores.join(), text);
    }
  };
  const ask = (body: object) => rankOne(trial, { state, question: "Which one?", candidates, ...body });
  expectApart("state", await oneByOne(LOOKALIKES, (text) => ask({ state: `${state} ${text}` })));
  expectApart("question", await oneByOne(LOOKALIKES, (text) => ask({ question: text })));
  const ranked = await ask({ candidates: LOOKALIKES });
  expectApart(
    "candidate",
    ranked.scores.map((score) => ({ scores: [score], inferred: ranked.inferred })),
  );
  const questions = {
    levels: scoreOf(LOOKALIKES, "Which one?"),
    ...Object.fromEntries(LOOKALIKES.map((text, at) => [`n${at}`, { type: "noul", instructions: text }])),
  };
  const inferred = await trial.infer(SYSTEMONE, { state, questions });
  expectApart(
    "level",
    scoredOf(trial, inferred, "levels").scores.map((score) => ({ scores: [score], inferred })),
  );
  expectApart(
    "instructions",
    LOOKALIKES.map((_, at) => ({ scores: scoredOf(trial, inferred, `n${at}`).scores, inferred })),
  );
}

/** Members and elements of the wide states, and levels of the deep ones. Chosen. */
const WIDE = 48;
const DEEP = 12;

async function checkStructures(trial: Trial): Promise<void> {
  const salt = nonce();
  const places = Array.from({ length: WIDE }, (_, index) => index);
  const object = (changed?: number, value = "ice") =>
    Object.fromEntries([
      ["salt", salt],
      ...places.map((at) => [`m${at}`, at === changed ? value : WORDS[at % 8]]),
    ]);
  const named = (changed?: number) =>
    Object.fromEntries([
      ["salt", salt],
      ...places.map((at) => [at === changed ? "other" : `m${at}`, WORDS[at % 8]]),
    ]);
  const list = (changed?: number) => [salt, ...places.map((at) => (at === changed ? "ice" : WORDS[at % 8]))];
  const nest = (value: unknown, depth: number): unknown =>
    depth === 0 ? value : { [`d${depth}`]: nest(value, depth - 1) };
  const changes = [undefined, 0, 7, 21, 35, WIDE - 1];
  const states: Readonly<Record<string, readonly unknown[]>> = {
    "a value": changes.map((at) => object(at)),
    "a name": changes.map((at) => named(at)).slice(1),
    "an element": changes.map((at) => list(at)),
    "a deep value": ["red", "ice"].flatMap((word) => [2, 5, DEEP].map((depth) => nest([salt, word], depth))),
  };
  const known = new Map<string, string>();
  for (const [what, given] of Object.entries(states))
    for (const [index, state] of given.entries()) {
      const candidates = ["a cup", "a map"];
      const inferred = await trial.infer(RANK, { state, question: "Which one?", candidates });
      const scores = listScores(trial, inferred, candidates.length).join();
      const name = `${what} (state ${index})`;
      const same = known.get(scores);
      trial.expect(same === undefined, `the same scores where ${name} differs as for ${same}`, inferred);
      known.set(scores, name);
    }
}

/** The same concatenated characters, split at other places. A cache key that joins texts could not distinguish them. */
async function checkBorders(trial: Trial): Promise<void> {
  const salt = nonce();
  const candidates = ["up is true", "own is true"];
  const parted = [
    { state: `${salt} a cup`, question: "board is open" },
    { state: `${salt} a cupbo`, question: "ard is open" },
    { state: `${salt} a c`, question: "upboard is open" },
  ].map((texts) => ({ ...texts, candidates }));
  const moved = [
    { state: salt, question: "is it so: set", candidates: ["upright", "down"] },
    { state: salt, question: "is it so: setup", candidates: ["right", "left"] },
    { state: salt, question: "is it so: s", candidates: ["etupright", "left"] },
  ];
  const known = new Map<number, string>();
  for (const body of [...parted, ...moved]) {
    const inferred = await trial.infer(RANK, body);
    const [score = 0] = listScores(trial, inferred, body.candidates.length);
    const name = JSON.stringify([body.state, body.question, body.candidates[0]]);
    const same = known.get(score);
    trial.expect(same === undefined, `the same score for ${name} as for ${same}`, inferred);
    known.set(score, name);
  }
}

/** A cache whose key is only a part of the pair would answer one of these with another's scores. */
async function checkElsewhere(trial: Trial): Promise<void> {
  const salt = nonce();
  const question = (instructions: string, type: string) =>
    type === "score" ? scoreOf(["good", "bad"], instructions) : { type, instructions };
  for (const type of ["noul", "score"]) {
    const seen = new Map<string, string>();
    for (const state of [`${salt} The first parcel came.`, `${salt} The other one was lost.`])
      for (const instructions of ["Is it good news?", "Is it bad news?"]) {
        const inferred = await trial.infer(SYSTEMONE, {
          state,
          questions: { q: question(instructions, type) },
        });
        const key = scoredOf(trial, inferred, "q").scores.join();
        const same = seen.get(key);
        const name = `${JSON.stringify(instructions)} of ${JSON.stringify(state)}`;
        trial.expect(same === undefined, `the same scores for ${name} as for ${same}`, inferred);
        seen.set(key, name);
      }
  }
}
