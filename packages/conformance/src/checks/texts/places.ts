import { at, show, toPlain } from "../../client/json.ts";
import type { Limits } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { freshState, scoredOf } from "../scored.ts";
import { HELD_SHOWN, HELD_TEXTS, type Spelling } from "./spellings.ts";

/** Observable effect of texts on a server: scores and token counts. */
export interface Effect {
  readonly scores: string;
  /** The scores, one entry per value. */
  readonly parts: readonly string[];
  /** Undefined if pairs came from a cache: then only the scores are compared. */
  readonly tokens: number | undefined;
  readonly inferred: Inferred;
}

/** A member of requests that accepts any JSON value, which is rendered to text. */
interface ValuePlace {
  readonly name: string;
  /** How many different values one request can have at this place. */
  readonly most: (limits: Limits) => number;
  /** @param values JSON texts */
  readonly body: (values: readonly string[]) => string;
}

const FILLER = '"something else altogether"';
const besideFiller = ({ maxCandidates }: Limits) => maxCandidates - 1;
const ofQuestions = ({ maxQuestions }: Limits) => maxQuestions;
const question = (type: string, instructions: string, criteria: string) =>
  `{"type":"${type}","instructions":${instructions},"criteria":${criteria}}`;
const asked = (questions: readonly string[]) =>
  `{"state":"It is noon.","questions":{${questions.map((one, index) => `"q${index}":${one}`).join(",")}}}`;
const CRITERIA = { noul: "null", choice: '{"a":"One","b":"Two"}', score: '["one","two"]' };

/** All such members of questions. The question of a ranking is tested apart. */
const VALUE_PLACES: readonly ValuePlace[] = [
  ...Object.entries(CRITERIA).map(([type, criteria]) => ({
    name: `the instructions of a ${type}`,
    most: ofQuestions,
    body: (values: readonly string[]) => asked(values.map((value) => question(type, value, criteria))),
  })),
  {
    name: "a level",
    most: besideFiller,
    body: (values) => asked([question("score", '"Which one?"', `[${[...values, FILLER].join(",")}]`)]),
  },
  {
    name: "the description of a label",
    most: besideFiller,
    body: (values) => {
      const labels = [...values, FILLER].map((value, index) => `"l${index}":${value}`).join(",");
      return asked([question("choice", '"Which one?"', `{${labels}}`)]);
    },
  },
  ...["false", "true", "no", "yes"].map((outcome) => ({
    name: `the description of ${outcome}`,
    most: ofQuestions,
    body: (values: readonly string[]) =>
      asked(values.map((value) => question("noul", '"Is it so?"', `{"${outcome}":${value}}`))),
  })),
];

/**
 * Classifiers and rerankers read a yes/no question as one pair of texts (contract: Texts): the description of `false`
 * adds neither tokens nor changes the scores.
 *
 * @throws CannotTell for such a model
 */
export async function needsBothOutcomes(trial: Trial): Promise<void> {
  if (!(await readsFalse(trial)))
    trial.skip("not applicable: this model reads a yes/no question as one pair of texts");
}

function readsFalse(trial: Trial): Promise<boolean> {
  return trial.shared("reads the description of false", async () => {
    const place = VALUE_PLACES.find(({ name }) => name === "the description of false");
    if (place === undefined) return true;
    const [short, long] = [
      await effectAt(trial, place, ['"On time"']),
      await effectAt(trial, place, ['"It came on the day that was agreed upon"']),
    ];
    return !isAlike(short, long);
  });
}

/** Sends a request with these values at the place. */
async function effectAt(trial: Trial, place: ValuePlace, values: readonly string[]): Promise<Effect> {
  const inferred = await trial.infer(SYSTEMONE, place.body(values));
  const answers = inferred.json.get("answers");
  const names = answers instanceof Map ? [...answers.keys()] : [];
  const scores = names.map((name) => scoredOf(trial, inferred, name).scores);
  // one question per value, or one candidate per value
  const parts = names.length === values.length ? scores : (scores[0] ?? []).slice(0, values.length);
  return effectOf(scores, parts, inferred);
}

/** The effect of a ranking, which may be given as JSON text. */
export async function effectOfRanking(trial: Trial, body: unknown): Promise<Effect> {
  const inferred = await trial.infer(RANK, body);
  const rows = at(inferred.json, "ranked");
  const scores = (Array.isArray(rows) ? rows : []).map((row) =>
    toPlain([at(row, "candidate") ?? null, at(row, "score") ?? null]),
  );
  return effectOf(scores, [scores], inferred);
}

function effectOf(scores: unknown, parts: readonly unknown[], inferred: Inferred): Effect {
  const tokens = at(inferred.json, "usage", "input_tokens");
  const isCounted = at(inferred.json, "usage", "cached_pairs") === 0 && typeof tokens === "number";
  return {
    scores: JSON.stringify(scores),
    parts: parts.map((part) => JSON.stringify(part)),
    tokens: isCounted ? tokens : undefined,
    inferred,
  };
}

/** Whether two effects are equal. */
export function isAlike(one: Effect, other: Effect): boolean {
  if (one.scores !== other.scores) return false;
  return one.tokens === undefined || other.tokens === undefined || one.tokens === other.tokens;
}

/** @param what the two effects are of */
export function expectAlike(trial: Trial, what: string, one: Effect, other: Effect): void {
  const told = ({ scores, tokens }: Effect) => `${scores} and ${show(tokens)} tokens`;
  trial.expect(isAlike(one, other), `${told(one)}, but ${told(other)} for ${what}`, one.inferred);
}

/** Compares values with their rendered texts, at each place, in as few requests as possible. */
export async function compareAtPlaces(trial: Trial, spellings: readonly Spelling[]): Promise<void> {
  await trial.each(VALUE_PLACES, async (place) => {
    for (const group of distinct(spellings, place.most(trial.facts.limits))) {
      const [values, texts] = [group.map(([json]) => json), group.map(([, text]) => JSON.stringify(text))];
      const given = await effectAt(trial, place, values);
      expectAlike(trial, `the texts of ${values.join()}`, given, await effectAt(trial, place, texts));
    }
  });
}

/** Groups of at most `most` spellings. No group has two with the same text, since candidates must differ. */
function distinct(spellings: readonly Spelling[], most: number): readonly (readonly Spelling[])[] {
  const groups: Spelling[][] = [];
  for (const spelling of spellings) {
    const isFree = (group: Spelling[]) =>
      group.length < most && group.every(([, text]) => text !== spelling[1]);
    const free = groups.find(isFree);
    if (free === undefined) groups.push([spelling]);
    else free.push(spelling);
  }
  return groups;
}

/** Expects that strings that contain JSON are not parsed, at any place. */
export async function checkTextsStay(trial: Trial): Promise<void> {
  const [held, values] = [HELD_TEXTS.map(([given]) => given), HELD_TEXTS.map(([, value]) => value)];
  const isRead = await readsFalse(trial);
  const places = VALUE_PLACES.filter(({ name }) => isRead || !/ (false|no)$/.test(name));
  await trial.each(places, async (place) => {
    const [one, other] = [await effectAt(trial, place, held), await effectAt(trial, place, values)];
    for (const [index, part] of one.parts.entries())
      trial.expect(
        part !== other.parts[index],
        `${held[index]} has the scores ${part}, and so has ${values[index]}`,
        one.inferred,
      );
  });
  const state = JSON.stringify(freshState());
  const candidates = (first: string) => `{"state":${state},"candidates":[${first},"another"]}`;
  const question = (text: string) => `{"state":${state},"question":${text},"candidates":["one","another"]}`;
  const rankings = HELD_TEXTS.flatMap(([given, value], index) => [
    {
      name: `${given} as a candidate`,
      one: candidates(given),
      other: candidates(JSON.stringify(HELD_SHOWN[index])),
    },
    { name: `${given} as the question of a ranking`, one: question(given), other: question(value) },
  ]);
  await trial.each(rankings, async ({ one, other }) => {
    const [seen, like] = [await effectOfRanking(trial, one), await effectOfRanking(trial, other)];
    trial.expect(!isAlike(seen, like), "the same scores and tokens as for what it holds", seen.inferred);
  });
}
