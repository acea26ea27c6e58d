import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { nonce } from "../../trial/salts.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { choiceOf, listScores, rankScores, scoredOf, scoreOf } from "../scored.ts";

/** Words of the long texts. All have three letters, so that two texts do not differ in length. */
const WORDS = ["red", "dog", "sun", "cup", "map", "box", "hat", "key"];
const wordAt = (index: number) => WORDS[index % WORDS.length] ?? "";
/** Lengths in words: of candidates, which have a lower limit of tokens, and of other texts. */
const SHORT_TEXT = 80;
const LONG_TEXT = 300;
/** Characters of a word and the space behind it. */
const WORD_LENGTH = 4;
/** Tokens for the texts beside a long one. Chosen. */
const BESIDE = 60;
const TWO = ["a cup", "a map"];

/** A text, and variants of it that differ in one word or in the order of two words, by what differs. */
function variants(count: number): Readonly<Record<string, string>> {
  const words = Array.from({ length: count }, (_, index) => wordAt(index * 5 + (index >> 3)));
  const text = (changed: Readonly<Record<number, string>>) =>
    words.map((word, index) => changed[index] ?? word).join(" ");
  const middle = count >> 1;
  const next = words.findIndex((word, index) => index > middle && word !== words[middle]);
  const places = [0, 9, 17, 33, 65, 130, 258].filter((place) => place < count);
  return {
    "the text itself": text({}),
    ...Object.fromEntries(
      [...places, middle, count - 1].map((place) => [
        `another word after ${place * WORD_LENGTH} of ${count * WORD_LENGTH} characters`,
        text({ [place]: "ice" }),
      ]),
    ),
    "two words swapped": text({ [middle]: words[next] ?? "", [next]: words[middle] ?? "" }),
    "a comma within": text({ [middle]: `${words[middle]},` }),
    "a question mark at the end": `${text({})}?`,
  };
}

/** Scores of texts, in the order of the texts. */
type Asked = readonly { readonly scores: readonly number[]; readonly inferred: Inferred }[];

/** Checks that all of each text reaches the model. A truncated text or a cache key of only a part would fail them. */
export const DEPENDENCE_CHECKS: readonly Check[] = [
  ...checksOf("interface: Scores and probabilities", {
    "scores.whole-state": whole("a state", LONG_TEXT, async (trial, texts, salt) => [
      await inTurn(texts, (text) => rankScores(trial, `${text} ${salt}`, "Which one?", TWO)),
    ]),
    "scores.whole-question": whole("the question of a ranking", LONG_TEXT, async (trial, texts, salt) => [
      await inTurn(texts, (text) => rankScores(trial, salt, text, TWO)),
    ]),
    "scores.whole-instructions": whole(
      "the instructions of a question",
      SHORT_TEXT,
      async (trial, texts, salt) => [
        await asQuestions(trial, salt, texts, (text) => choiceOf({ a: "A cup", b: "A map" }, text)),
        await asQuestions(trial, salt, texts, (text) => scoreOf(TWO, text)),
        await asQuestions(trial, salt, texts, (instructions) => ({ type: "noul", instructions })),
      ],
    ),
    "scores.whole-candidate": whole("a candidate", SHORT_TEXT, async (trial, texts, salt) => [
      await asCandidates(trial, salt, texts),
    ]),
    "scores.whole-description": whole("a description", SHORT_TEXT, async (trial, texts, salt) => [
      await asQuestions(trial, salt, texts, (text) => choiceOf({ a: text, b: "none of it" })),
      await asQuestions(trial, salt, texts, (text) => ({
        type: "noul",
        instructions: "Is it so?",
        criteria: { true: text },
      })),
      await asLevels(trial, salt, texts),
    ]),
    "scores.as-sent": {
      clause:
        "A text reaches the model as it was sent: punctuation, tags, entities and quotation marks included.",
      expected: "other scores for texts that differ only in such characters, in any member",
      run: async (trial) => {
        const salt = nonce();
        const found = {
          state: await inTurn(LOOKALIKES, (text) => rankScores(trial, `${salt} ${text}`, "Which one?", TWO)),
          question: await inTurn(LOOKALIKES, (text) => rankScores(trial, salt, text, TWO)),
          candidate: await asCandidates(trial, salt, LOOKALIKES),
          level: await asLevels(trial, salt, LOOKALIKES),
          instructions: await asQuestions(trial, salt, LOOKALIKES, (instructions) => ({
            type: "noul",
            instructions,
          })),
        };
        for (const [what, asked] of Object.entries(found)) expectApart(trial, LOOKALIKES, asked, what);
      },
    },
    "scores.borders": {
      clause: "State, question and candidate are separate texts: the boundary between them matters.",
      expected: "other scores if a part of one text moves across the boundary to the next",
      run: checkBorders,
    },
    "scores.again-elsewhere": {
      clause:
        "Earlier requests do not affect the scores, not even ones with the same question or the same state.",
      expected:
        "other scores for another state under the same question, and for another question of the same state",
      run: async (trial) => {
        const salt = nonce();
        const cases = [`${salt} The first parcel came.`, `${salt} The other one was lost.`].flatMap((state) =>
          ["Is it good news?", "Is it bad news?"].map((instructions) => ({ state, instructions })),
        );
        for (const form of [{ type: "noul" }, scoreOf(["good", "bad"])]) {
          const asked = await inTurn(cases, async ({ state, instructions }) => {
            const questions = { q: { ...form, instructions } };
            const inferred = await trial.infer(SYSTEMONE, { state, questions });
            return { scores: scoredOf(trial, inferred, "q").scores, inferred };
          });
          expectApart(trial, cases, asked);
        }
      },
    },
  }),
  ...checksOf("contract: Texts", {
    "scores.whole-structure": {
      clause: "Every member of a structured state affects the scores, at any width and depth.",
      expected: "other scores for states that differ in one name, one value or one element",
      run: async (trial) => {
        const states = structures(nonce());
        const asked = await inTurn(Object.values(states), (state) =>
          rankScores(trial, state, "Which one?", TWO),
        );
        expectApart(trial, Object.keys(states), asked);
      },
    },
  }),
];

function whole(
  subject: string,
  length: number,
  ask: (trial: Trial, texts: readonly string[], salt: string) => Promise<readonly Asked[]>,
): Draft {
  return {
    clause: `Every word of ${subject} affects the scores, at any position.`,
    expected: "other scores for texts that differ in one word, or in the order of two words",
    run: async (trial) => {
      const { maxCandidateTokens, maxStateQuestionTokens } = trial.facts.limits;
      const most =
        length === LONG_TEXT ? maxStateQuestionTokens : Math.min(maxCandidateTokens, maxStateQuestionTokens);
      // a token has at least one character: so these texts are short enough for any tokenizer
      const all = variants(Math.min(length, Math.floor((most - BESIDE) / WORD_LENGTH)));
      const twice = async () => {
        const groups = await ask(trial, Object.values(all), nonce());
        return groups.flatMap((asked) => equals(Object.keys(all), asked));
      };
      const equal = await twice();
      if (equal.length === 0) return;
      // two of so many scores may be equal by chance, but not the same two again
      const again = new Set((await twice()).map(({ pair }) => pair));
      for (const { pair, inferred } of equal)
        if (again.has(pair)) trial.fail(`the same scores for ${pair}`, inferred);
    },
  };
}

/** Pairs of texts with the same scores. */
function equals(names: readonly string[], asked: Asked) {
  const known = new Map<string, string>();
  return asked.flatMap(({ scores, inferred }, index) => {
    const name = names[index] ?? "";
    const same = known.get(scores.join());
    known.set(scores.join(), name);
    return same === undefined ? [] : [{ pair: `${name} as for ${same}`, inferred }];
  });
}

/** @param what differs between the given */
function expectApart(trial: Trial, given: readonly unknown[], asked: Asked, what = ""): void {
  const names = given.map((one) => `${what} ${JSON.stringify(one)}`);
  const [same] = equals(names, asked);
  if (same !== undefined) trial.fail(`the same scores for ${same.pair}`, same.inferred);
}

async function inTurn<Given, Found>(
  all: readonly Given[],
  ask: (one: Given) => Promise<Found>,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const one of all) found.push(await ask(one));
  return found;
}

async function asQuestions(
  trial: Trial,
  state: string,
  texts: readonly string[],
  question: (text: string) => unknown,
): Promise<Asked> {
  const questions = Object.fromEntries(texts.map((text, index) => [`n${index}`, question(text)]));
  const inferred = await trial.infer(SYSTEMONE, { state, questions });
  return texts.map((_, index) => ({ scores: scoredOf(trial, inferred, `n${index}`).scores, inferred }));
}

async function asLevels(trial: Trial, state: string, texts: readonly string[]): Promise<Asked> {
  const inferred = await trial.infer(SYSTEMONE, { state, questions: { q: scoreOf(texts, "Which one?") } });
  return scoredOf(trial, inferred, "q").scores.map((score) => ({ scores: [score], inferred }));
}

async function asCandidates(trial: Trial, state: string, candidates: readonly string[]): Promise<Asked> {
  const { scores, inferred } = await rankScores(trial, state, "Which one?", candidates);
  return scores.map((score) => ({ scores: [score], inferred }));
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

/** Members and elements of the wide states, and levels of the deep ones. Chosen. */
const WIDE = 48;
const DEEP = 12;

/** States that differ in one place, by the place. */
function structures(salt: string): Readonly<Record<string, unknown>> {
  const places = [...Array(WIDE).keys()];
  const object = (member: (place: number) => [name: string, value: string]) =>
    Object.fromEntries([["salt", salt], ...places.map(member)]);
  const nest = (value: unknown, depth: number): unknown =>
    depth === 0 ? value : { [`d${depth}`]: nest(value, depth - 1) };
  const each = (what: string, changes: readonly number[], state: (changed: number) => unknown) =>
    Object.fromEntries(changes.map((changed) => [`${what} ${changed}`, state(changed)]));
  const changes = [0, 7, 21, 35, WIDE - 1];
  return {
    "no value": object((at) => [`m${at}`, wordAt(at)]),
    ...each("value", changes, (changed) => object((at) => [`m${at}`, at === changed ? "ice" : wordAt(at)])),
    ...each("name", changes, (changed) => object((at) => [at === changed ? "other" : `m${at}`, wordAt(at)])),
    ...each("element", [-1, ...changes], (changed) => [
      salt,
      ...places.map((at) => (at === changed ? "ice" : wordAt(at))),
    ]),
    ...each("red at depth", [2, 5, DEEP], (depth) => nest([salt, "red"], depth)),
    ...each("ice at depth", [2, 5, DEEP], (depth) => nest([salt, "ice"], depth)),
  };
}

/** The same concatenated characters, split at other places. A cache key that joins texts could not distinguish them. */
async function checkBorders(trial: Trial): Promise<void> {
  const salt = nonce();
  const cases = [
    [`${salt} a cup`, "board is open", "up is true", "own is true"],
    [`${salt} a cupbo`, "ard is open", "up is true", "own is true"],
    [`${salt} a c`, "upboard is open", "up is true", "own is true"],
    [salt, "is it so: set", "upright", "down"],
    [salt, "is it so: setup", "right", "left"],
    [salt, "is it so: s", "etupright", "left"],
  ];
  const asked = await inTurn(cases, async ([state, question, ...candidates]) => {
    const inferred = await trial.infer(RANK, { state, question, candidates });
    return { scores: listScores(trial, inferred, candidates.length).slice(0, 1), inferred };
  });
  expectApart(trial, cases, asked);
}
