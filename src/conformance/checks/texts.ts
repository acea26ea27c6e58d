import { type Check, defineCheck } from "../check.ts";
import { at, show, toPlain } from "../json.ts";
import { RANK, SYSTEMONE } from "../operations.ts";
import { MARK, type Trial } from "../trial.ts";
import { effectAt, effectOfRanking, isAlike, VALUE_PLACES } from "./places.ts";
import { choiceOf, freshState, listScores, rankScores, rowsOf, scoredOf, scoreOf } from "./scored.ts";

/** JSON text and the string that it must be rendered to. */
type Spelling = readonly [json: string, text: string];

const SCALARS: readonly Spelling[] = [
  ["5", "5"],
  ["-12", "-12"],
  ["-0", "0"],
  ["true", "true"],
  ["false", "false"],
  ["12345678901234567890123", "12345678901234567890123"],
  ['"  padded\\n"', "padded"],
  ['" \\u0085padded\\u00a0\\u001f"', "padded"],
];
const FLOATS: readonly Spelling[] = [
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
const STRUCTURES: readonly Spelling[] = [
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
];
/** State texts that hold JSON, and the JSON that they must be read like. */
const HELD: readonly Spelling[] = [
  ['"{\\"a\\":1,\\"b\\":[true]}"', '{"a":1,"b":[true]}'],
  ['"  [1.0, 1e16]"', "[1.0,1e16]"],
  ['"{\\"2\\":1,\\"1\\":2}"', '{"2":1,"1":2}'],
];
/** State texts that hold other JSON, and the value that they must not become. */
const STAY_TEXTS: readonly Spelling[] = [
  ['"1e2"', "1e2"],
  ['"100.00"', "100.00"],
  ['"\\"quoted\\""', '"quoted"'],
  ['"null"', "null"],
];
/** White space around a text, as a string and as what other values are rendered to. */
const PADDED: readonly Spelling[] = [
  ['"  late\\n"', "late"],
  ['"\\t past due"', "past due"],
  ['"over \\n\\n"', "over"],
  ['"\\u00a0on time\\u2003"', "on time"],
  ['{"a":" x  "}', "a:  x"],
  ['["y",""]', "- y\n-"],
  ['{"b":null}', "b:"],
];
/** Texts that hold JSON, and what they would be if they were read. */
const HELD_TEXTS: readonly Spelling[] = [
  ['"{\\"a\\":{\\"b\\":[1]}}"', '{"a":{"b":[1]}}'],
  ['"[\\"x\\",{\\"y\\":2}]"', '["x",{"y":2}]'],
  ['" {\\"c\\": true} "', '{"c":true}'],
  ['"1e2"', "1e2"],
  ['"\\"word\\""', '"word"'],
];
/** The same as texts. */
const HELD_SHOWN = ["a:\n  b:\n    - 1", "- x\n-\n  y: 2", "c: true", "100.0", "word"];
const CANDIDATES = ["one thing", "another one", "order 1 is paid"];

/** How values become texts: seen by spellings that must score alike and others that must not. */
export const TEXT_CHECKS: readonly Check[] = [
  rendering(
    "texts.scalars",
    "Integers keep all their digits, booleans are words, strings are trimmed.",
    SCALARS,
  ),
  rendering("texts.floats", "Floats are written as Python's repr writes them.", FLOATS),
  rendering(
    "texts.structures",
    "Objects are `key: value` fields in input order, arrays `- item` lines, nested ones indented.",
    STRUCTURES,
  ),
  defineCheck({
    id: "texts.state-holds-json",
    clause: "A string state that itself is a JSON object or array is rendered like one.",
    source: "notes 4",
    expected: "the scores and tokens of the object or array itself",
    run: async (trial: Trial) => {
      const cases = HELD.map(([given, like]) => ({ name: given, given, like }));
      await trial.each(cases, ({ given, like }) => compareStates(trial, given, like));
    },
  }),
  defineCheck({
    id: "texts.only-state-holds-json",
    clause: "Only a state is looked into: any other string that holds JSON is the text that it is.",
    source: "notes 4",
    expected:
      "other tokens or scores for instructions, descriptions and candidates given as JSON text and as what it holds",
    run: checkTextsStay,
  }),
  defineCheck({
    id: "texts.state-holds-scalars",
    clause: "A string state that holds a number, a word or a quoted text of JSON is the text that it is.",
    source: "notes 4",
    expected: "other scores or tokens than for the value that it holds",
    run: async (trial: Trial) => {
      const cases = STAY_TEXTS.map(([given, value]) => ({ name: given, given, value }));
      await trial.each(cases, async ({ given, value }) => {
        const [one, other] = [await rawRank(trial, given), await rawRank(trial, value)];
        trial.expect(differ(one, other), `the same scores and tokens as for ${value}`, one.inferred);
      });
    },
  }),
  defineCheck({
    id: "texts.trimmed",
    clause: "Instructions and descriptions are trimmed, those made of other values too.",
    source: "notes 4",
    expected: "the scores and tokens of the text without its white space, at each place and of each type",
    run: (trial: Trial) => compareAtPlaces(trial, PADDED),
  }),
  defineCheck({
    id: "texts.trimmed-candidates",
    clause: "The candidates of a ranking are scored without the white space around them.",
    source: "notes 6",
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
    source: "notes 4",
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
    clause: "A level's text is its description.",
    source: "notes 5",
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
      "A choice shows its descriptions, with or without the label in front; a blank one stands for the label.",
    source: "notes 5",
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
      clause: "An outcome without a description is shown by the published words, with the instructions.",
      criteria: undefined,
      instructions: "Is it late?",
      shown: ["false: No. This is false: Is it late?", "true: Yes. This is true: Is it late?"],
    },
    {
      id: "texts.noul-half",
      clause: "One described outcome leaves the other its default words.",
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
      source: "notes 5",
      expected: `the scores that \`rank\` gives to ${shown.map((text) => JSON.stringify(text)).join(" and ")}`,
      run: (trial: Trial) =>
        compareAnswer(trial, { type: "noul", instructions, criteria }, instructions, [shown]),
    }),
  ),
  defineCheck({
    id: "texts.rank-labels-hidden",
    clause: "The label of a ranking's candidate is never shown to the model.",
    source: "notes 5",
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

/** Ranks under a state given as JSON text. */
async function rawRank(trial: Trial, state: string): Promise<Seen> {
  const texts = JSON.stringify(CANDIDATES);
  const inferred = await trial.infer(RANK, `{"state":${state},"question":"Which?","candidates":${texts}}`);
  // a pair from a cache has no tokens: then the scores alone have to do
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
    source: "notes 4",
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

/** Holds an answer's scores against those of its candidates' texts; one of several ways to show them must fit. */
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

/** Holds the values at each place against their texts, as many in a request as it takes. */
async function compareAtPlaces(trial: Trial, spellings: readonly Spelling[]): Promise<void> {
  await trial.each(VALUE_PLACES, async (place) => {
    for (const group of distinct(spellings)) {
      const given = await effectAt(
        trial,
        place,
        group.map(([json]) => json),
      );
      const like = await effectAt(
        trial,
        place,
        group.map(([, text]) => JSON.stringify(text)),
      );
      trial.expect(
        isAlike(given, like),
        `${given.scores} and ${given.tokens} tokens for ${group.map(([json]) => json).join()}, ` +
          `but ${like.scores} and ${like.tokens} for the texts`,
        given.inferred,
      );
    }
  });
}

/** In groups without two of one text: candidates must differ. */
function distinct(spellings: readonly Spelling[]): readonly (readonly Spelling[])[] {
  const groups: Spelling[][] = [];
  for (const spelling of spellings) {
    const free = groups.find((group) => group.every(([, text]) => text !== spelling[1]));
    if (free === undefined) groups.push([spelling]);
    else free.push(spelling);
  }
  return groups;
}

async function checkTextsStay(trial: Trial): Promise<void> {
  const [held, values] = [HELD_TEXTS.map(([given]) => given), HELD_TEXTS.map(([, value]) => value)];
  await trial.each(VALUE_PLACES, async (place) => {
    const [one, other] = [await effectAt(trial, place, held), await effectAt(trial, place, values)];
    for (const [index, part] of one.parts.entries())
      trial.expect(
        part !== other.parts[index],
        `${held[index]} has the scores ${part}, and so has ${values[index]}`,
        one.inferred,
      );
  });
  const state = JSON.stringify(freshState());
  const rankings = HELD_TEXTS.flatMap(([given, value], index) => {
    const text = JSON.stringify(HELD_SHOWN[index]);
    const candidates = (first: string) => `{"state":${state},"candidates":[${first},"another"]}`;
    const question = (asked: string) =>
      `{"state":${state},"question":${asked},"candidates":["one","another"]}`;
    return [
      { name: `${given} as a candidate`, one: candidates(given), other: candidates(text) },
      { name: `${given} as the question of a ranking`, one: question(given), other: question(value) },
    ];
  });
  await trial.each(rankings, async ({ one, other }) => {
    const [seen, like] = [await effectOfRanking(trial, one), await effectOfRanking(trial, other)];
    trial.expect(!isAlike(seen, like), "the same scores and tokens as for what it holds", seen.inferred);
  });
}
