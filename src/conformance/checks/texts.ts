import { type Check, defineCheck } from "../check.ts";
import { at, show, toPlain } from "../json.ts";
import { RANK, SYSTEMONE } from "../operations.ts";
import { MARK, type Trial } from "../trial.ts";
import { choiceOf, listScores, rankScores, rowsOf, scoredOf, scoreOf } from "./scored.ts";

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
    clause: "Only a state is looked into: instructions that hold JSON are the text that they are.",
    source: "notes 4",
    expected: "other tokens or scores for instructions given as an object and as its JSON text",
    run: async (trial: Trial) => {
      const given = await rankScores(trial, "s", '{"a":{"b":[1]}}', CANDIDATES);
      const like = await rankScores(trial, "s", { a: { b: [1] } }, CANDIDATES);
      trial.expect(differ(given, like), "the same scores and tokens", given.inferred);
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
      const criteria = { refund: "Wants money back", cancel: null, fault: " ", same: "same", n: 5 };
      const plain = ["Wants money back", "cancel", "fault", "same", "5"];
      const labelled = ["refund: Wants money back", "cancel", "fault", "same", "n: 5"];
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
    expected: "as a state and as a question, the scores and tokens of the rendered text",
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
  const seen: string[] = [];
  for (const shown of ways) {
    const ranked = await rankScores(trial, "It is noon.", instructions, shown);
    if (JSON.stringify(ranked.scores) === JSON.stringify(scores)) return;
    seen.push(JSON.stringify(ranked.scores));
  }
  trial.fail(`the scores ${JSON.stringify(scores)}, but ${seen.join(" or ")} for the texts`, inferred);
}
