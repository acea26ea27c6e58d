import { at, show, toPlain } from "../../client/json.ts";
import type { Limits } from "../../trial/limits.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { freshState, scoredOf } from "../scored.ts";

/** A JSON text and the string that it must be rendered to. */
export type Spelling = readonly [json: string, text: string];

export const SCALARS: readonly Spelling[] = [
  ["5", "5"],
  ["-12", "-12"],
  ["-0", "0"],
  ["true", "true"],
  ["false", "false"],
  ["12345678901234567890123", "12345678901234567890123"],
  ['"  padded\\n"', "padded"],
  ['" \\u0085padded\\u00a0\\u001f"', "padded"],
];
export const FLOATS: readonly Spelling[] = [
  ["1.0", "1.0"],
  ["100.0", "100.0"],
  ["1E2", "100.0"],
  ["0.1", "0.1"],
  ["1e16", "1e+16"],
  ["123456789012345680.0", "1.2345678901234568e+17"],
  ["0.0001", "0.0001"],
  ["0.00001", "1e-05"],
  ["-0.0", "-0.0"],
  ["5e-324", "5e-324"],
];
export const STRUCTURES: readonly Spelling[] = [
  ['{"order":1,"paid":true}', "order: 1\n\npaid: true"],
  ['{"b":1,"a":2}', "b: 1\n\na: 2"],
  ['{"10":"x","2":"y"}', "10: x\n\n2: y"],
  ['["kettle","cups"]', "- kettle\n- cups"],
  [
    '{"items":["kettle",{"n":1,"m":[2]}],"x":{"y":null}}',
    "items:\n  - kettle\n  -\n    n: 1\n    m:\n      - 2\n\nx:\n  y:",
  ],
  ['{"a":{"b":{"c":1}}}', "a:\n  b:\n    c: 1"],
  ['{"a":{},"b":[]}', "a: \n\nb:"],
  ['{"__proto__":1}', "__proto__: 1"],
  ['{"__proto__":1,"a":{"__proto__":2,"b":3}}', "__proto__: 1\n\na:\n  __proto__: 2\n  b: 3"],
];
/** String states that contain JSON, and the JSON that they must be treated as. */
export const HELD: readonly Spelling[] = [
  ['"{\\"a\\":1,\\"b\\":[true]}"', '{"a":1,"b":[true]}'],
  ['"  [1.0, 1e16]"', "[1.0,1e16]"],
  ['"{\\"2\\":1,\\"1\\":2}"', '{"2":1,"1":2}'],
];
/** String states that contain other JSON, and the value that they must not be parsed to. */
export const STAY_TEXTS: readonly Spelling[] = [
  ['"1e2"', "1e2"],
  ['"100.00"', "100.00"],
  ['"\\"quoted\\""', '"quoted"'],
  ['"null"', "null"],
  ['{"a":"{\\"b\\":1}"}', '{"a":{"b":1}}'],
  ['["[1,2]"]', "[[1,2]]"],
];
/** Texts with white space around them, as strings and as rendered values, and the trimmed text. */
export const PADDED: readonly Spelling[] = [
  ['"  late\\n"', "late"],
  ['"\\t past due"', "past due"],
  ['"over \\n\\n"', "over"],
  ['"\\u00a0on time\\u2003"', "on time"],
  ['{"a":" x  "}', "a:  x"],
  ['["y",""]', "- y\n-"],
  ['{"b":null}', "b:"],
];
/** Strings that contain JSON, and the values that they must not be parsed to. */
const HELD_TEXTS: readonly Spelling[] = [
  ['"{\\"a\\":{\\"b\\":[1]}}"', '{"a":{"b":[1]}}'],
  ['"[\\"x\\",{\\"y\\":2}]"', '["x",{"y":2}]'],
  ['" {\\"c\\": true} "', '{"c":true}'],
  ['"1e2"', "1e2"],
  ['"\\"word\\""', '"word"'],
];
/** The rendered texts of those values. */
const HELD_SHOWN = ["a:\n  b:\n    - 1", "- x\n-\n  y: 2", "c: true", "100.0", "word"];
export const CANDIDATES = ["one thing", "another one", "order 1 is paid"];
/** JSON texts of states that all differ. */
export const STATES = [
  ...['{"a":1,"b":2}', '{"b":2,"a":1}', "[1,2]", "[2,1]", '{"a":[1,2]}', "5", "5.5", "true", "false"],
  "[[1],2]",
];

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
