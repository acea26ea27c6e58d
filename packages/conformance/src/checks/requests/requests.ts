import type { Check } from "../../trial/check.ts";
import { NOUL, RANK, SMALL, SMALL_RANK } from "../../trial/operations.ts";
import { asked, ranked, refuses, takes } from "../cases.ts";
import { CHOICE, choiceOf, SCORE, scoreOf } from "../scored.ts";

const NO_OBJECTS = [null, true, 5, "text", ["a"]];
/** Some Unicode white space. Byte order marks and zero-width characters are not white space. */
const SPACES = [" ", "\t\r\n", "\v\f", "\u001c", "\u001f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000"];

/** Checks of the shapes of requests: what must be accepted and what refused. */
export const REQUEST_CHECKS: readonly Check[] = [
  takes("request.state.any-json", "`state` may be any JSON value.", "interface: SystemoneRequest", [
    ...["text", 5, 1.5, true, { a: 1, b: [2] }, ["a", { b: 1 }]].flatMap((state) => [
      { name: `systemone, ${JSON.stringify(state)}`, body: { ...SMALL, state } },
      { name: `rank, ${JSON.stringify(state)}`, path: RANK, body: { ...SMALL_RANK, state } },
    ]),
  ]),
  takes(
    "request.instructions.any-json",
    "`instructions` and `question` may be any JSON value.",
    "interface: Question",
    [
      ...["text", 5, true, { a: 1 }, ["a"]].flatMap((value) => [
        { name: `instructions ${JSON.stringify(value)}`, body: asked({ ...NOUL, instructions: value }) },
        { name: `question ${JSON.stringify(value)}`, path: RANK, body: { ...SMALL_RANK, question: value } },
      ]),
    ],
  ),
  takes(
    "request.null",
    "null is a valid `state`, `instructions` and `question`.",
    "contract: Question, Texts",
    [
      { name: "a null state", body: { ...SMALL, state: null } },
      { name: "null instructions", body: asked({ ...NOUL, instructions: null }) },
      { name: "a null question", path: RANK, body: { ...SMALL_RANK, question: null } },
      {
        name: "a null state in a ranking",
        path: RANK,
        body: { ...SMALL_RANK, state: null, question: "Which?" },
      },
    ],
  ),
  takes("request.descriptions.any-json", "Descriptions may be any JSON value.", "contract: Texts", [
    ...[5, true, 1.5, ["a", 1], { a: { b: [] }, c: 1 }].flatMap((value) => [
      { name: `a label's ${JSON.stringify(value)}`, body: asked(choiceOf({ a: value, b: "other" })) },
      { name: `a level's ${JSON.stringify(value)}`, body: asked(scoreOf([value, "other"])) },
      { name: `an outcome's ${JSON.stringify(value)}`, body: asked({ ...NOUL, criteria: { true: value } }) },
    ]),
  ]),
  takes("request.noul-criteria", "A noul may have no criteria.", "interface: Question", [
    { name: "no criteria", body: asked(NOUL) },
    { name: "both outcomes", body: asked({ ...NOUL, criteria: { false: "early", true: "late" } }) },
  ]),
  takes(
    "request.noul-criteria-partly",
    "Criteria of a noul may be null, empty, or describe one outcome.",
    "contract: Question",
    [
      { name: "null", body: asked({ ...NOUL, criteria: null }) },
      { name: "{}", body: asked({ ...NOUL, criteria: {} }) },
      { name: "true alone", body: asked({ ...NOUL, criteria: { true: "late" } }) },
      { name: "false alone", body: asked({ ...NOUL, criteria: { false: "early" } }) },
      { name: "a null outcome", body: asked({ ...NOUL, criteria: { false: null, true: "late" } }) },
    ],
  ),
  takes(
    "request.rank-candidates",
    "Candidates are a mapping or a list of strings.",
    "interface: RankRequest",
    [
      { name: "a list", path: RANK, body: SMALL_RANK },
      { name: "a mapping", path: RANK, body: { state: "s", candidates: { a: "early", b: "late" } } },
    ],
  ),
  refuses(
    "request.required",
    "`state`, `questions`, `type`, `instructions` and `candidates` are required.",
    "interface: SystemoneRequest",
    [
      { name: "no state", body: { questions: { q: NOUL } } },
      { name: "no questions", body: { state: "s" } },
      { name: "no type", body: asked({ instructions: "Is it late?" }) },
      { name: "no instructions", body: asked({ type: "noul" }) },
      { name: "a choice without instructions", body: asked({ type: "choice", criteria: CHOICE.criteria }) },
      { name: "no candidates", path: RANK, body: { state: "s" } },
      { name: "a ranking without a state", path: RANK, body: { candidates: ["a", "b"] } },
      { name: "an empty object", body: {} },
      { name: "an empty object to rank", path: RANK, body: {} },
    ],
  ),
  refuses("request.criteria-required", "`criteria` is required for choice and score.", "contract: Question", [
    ...["choice", "score"].flatMap((type) => [
      { name: `a ${type} without`, body: asked({ type, instructions: "Which?" }) },
      { name: `a ${type} with null`, body: asked({ type, instructions: "Which?", criteria: null }) },
    ]),
  ]),
  refuses("request.unknown-field", "Unknown fields of a body are refused.", "interface: SystemoneRequest", [
    { name: "systemone", body: { ...SMALL, extra: 1 } },
    { name: "systemone, null", body: { ...SMALL, extra: null } },
    { name: "systemone with temperature", body: { ...SMALL, temperature: 1 } },
    { name: "rank", path: RANK, body: { ...SMALL_RANK, extra: 1 } },
    { name: "rank with top_n", path: RANK, body: { ...SMALL_RANK, top_n: 1 } },
    { name: "rank with questions", path: RANK, body: { ...SMALL_RANK, questions: {} } },
    { name: "systemone with candidates", body: { ...SMALL, candidates: ["a", "b"] } },
  ]),
  refuses(
    "request.unknown-question-field",
    "Unknown fields of a question are refused.",
    "contract: Question",
    [
      ...[CHOICE, NOUL, SCORE].flatMap((question) =>
        ["extra", "legend", "Type", "labels", ""].map((name) => ({
          name: `${question.type} with ${JSON.stringify(name)}`,
          body: asked({ ...question, [name]: "x" }),
        })),
      ),
      { name: "an unknown outcome", body: asked({ ...NOUL, criteria: { maybe: "x" } }) },
      { name: "an outcome in capitals", body: asked({ ...NOUL, criteria: { True: "x" } }) },
      {
        name: "__proto__ in a body",
        body: '{"__proto__":1,"state":"s","questions":{"q":{"type":"noul","instructions":"i"}}}',
      },
      {
        name: "__proto__ in a question",
        body: '{"state":"s","questions":{"q":{"type":"noul","instructions":"i","__proto__":1}}}',
      },
      {
        name: "a state inherited from __proto__",
        body: '{"__proto__":{"state":"s"},"questions":{"q":{"type":"noul","instructions":"i"}}}',
      },
      {
        name: "constructor in a ranking",
        path: RANK,
        body: '{"state":"s","candidates":["a","b"],"constructor":1}',
      },
    ],
  ),
  refuses("request.question-type", "A question's type is choice, noul or score.", "interface: Question", [
    ...["rank", "boolean", "Choice", "", 5, null, ["noul"]].map((type) => ({
      name: JSON.stringify(type),
      body: asked({ type, instructions: "Is it late?" }),
    })),
    ...[CHOICE, NOUL, SCORE].map((question) => ({
      name: `${question.type} in capitals`,
      body: asked({ ...question, type: question.type.toUpperCase() }),
    })),
  ]),
  refuses(
    "request.questions-shape",
    "`questions` is an object of question objects.",
    "interface: SystemoneRequest",
    [
      ...NO_OBJECTS.map((questions) => ({
        name: `questions ${JSON.stringify(questions)}`,
        body: { state: "s", questions },
      })),
      ...NO_OBJECTS.map((question) => ({
        name: `a question ${JSON.stringify(question)}`,
        body: asked(question),
      })),
    ],
  ),
  refuses(
    "request.criteria-shape",
    "`criteria` is a mapping for a choice, a list for a score, a mapping for a noul.",
    "interface: Question",
    [
      ...[["a", "b"], "text", 5, true].map((criteria) => ({
        name: `choice, ${JSON.stringify(criteria)}`,
        body: asked(choiceOf(criteria)),
      })),
      ...[{ "0": "a", "1": "b" }, "text", 5, true].map((criteria) => ({
        name: `score, ${JSON.stringify(criteria)}`,
        body: asked({ ...SCORE, criteria }),
      })),
      ...["text", ["a", "b"], 5, true].map((criteria) => ({
        name: `noul, ${JSON.stringify(criteria)}`,
        body: asked({ ...NOUL, criteria }),
      })),
    ],
  ),
  refuses(
    "request.candidates-shape",
    "Candidates are strings, in a mapping or a list.",
    "interface: Errors",
    [
      ...[null, "text", 5, true].map((given) => ranked(given)),
      ...[5, null, true, ["a"], { a: 1 }].flatMap((odd) => [ranked(["a", odd]), ranked({ a: "a", b: odd })]),
    ],
  ),
  refuses("request.distinct", "Candidates must be distinct.", "interface: RankRequest", [
    ranked(["x", "y", "x"]),
    ranked({ a: "x", b: "x" }),
    { name: "equal levels", body: asked(scoreOf(["x", "y", "x"])) },
  ]),
  refuses(
    "request.distinct-rendered",
    "Descriptions must differ after rendering and trimming, whatever their labels.",
    "contract: systemone, rank",
    [
      { name: "equal descriptions", body: asked(choiceOf({ a: "x", b: "x" })) },
      { name: "equal after trimming", body: asked(choiceOf({ a: "x", b: " x\n" })) },
      { name: "a number and its text", body: asked(choiceOf({ a: 5, b: "5" })) },
      { name: "a level that is a number and its text", body: asked(scoreOf([5, "5", "y"])) },
      { name: "true and its text", body: asked(scoreOf([true, "true"])) },
      { name: "an object and its text", body: asked(scoreOf([{ k: 1 }, "k: 1"])) },
      { name: "a list and its text", body: asked(scoreOf([["k"], "- k"])) },
      { name: "a label in place of its description", body: asked(choiceOf({ a: null, b: "a" })) },
      { name: "a label in place of a blank description", body: asked(choiceOf({ a: "  ", b: "a" })) },
      { name: "equal outcomes", body: asked({ ...NOUL, criteria: { false: "x", true: " x" } }) },
      ranked(["x", "x "]),
      ranked(["x", "x\u0085"]),
      ranked({ a: "x", b: "\tx" }),
      ...SPACES.flatMap((space) =>
        [`x${space}`, `${space}x`].flatMap((padded) => [
          { name: `levels ${JSON.stringify(["x", padded])}`, body: asked(scoreOf(["x", "y", padded])) },
          {
            name: `descriptions ${JSON.stringify(["x", padded])}`,
            body: asked(choiceOf({ a: padded, b: "x" })),
          },
          ranked(["y", padded, "x"]),
        ]),
      ),
      { name: "equal levels after rendering and trimming", body: asked(scoreOf([["", "a "], "- \n- a"])) },
      {
        name: "an object that ends with white space",
        body: asked(choiceOf({ a: { k: " x " }, b: "k:  x" })),
      },
      { name: "a padded label in place of its description", body: asked(choiceOf({ " a ": " ", b: "a" })) },
      {
        name: "equal outcomes under their aliases",
        body: asked({ ...NOUL, criteria: { no: "x\t", yes: "x" } }),
      },
      {
        name: "equal descriptions in the last question",
        body: { state: "s", questions: { a: NOUL, b: scoreOf(["u", "v"]), c: scoreOf(["x\n", "x"]) } },
      },
    ],
  ),
  takes(
    "request.distinct-enough",
    "Candidates that differ in one character are distinct.",
    "contract: systemone, rank",
    [
      { name: "case", body: asked(choiceOf({ a: "x", b: "X" })) },
      { name: "white space within", body: asked(choiceOf({ a: "x y", b: "x  y" })) },
      { name: "accents in two Unicode forms", body: asked(choiceOf({ a: "é", b: "e\u0301" })) },
      { name: "labels swapped as descriptions", body: asked(choiceOf({ a: "b", b: "a" })) },
      { name: "a label that is its description", body: asked(choiceOf({ a: "a", b: null })) },
      { name: "two equal questions", body: { state: "s", questions: { a: NOUL, b: NOUL } } },
      ranked(["[1]", "- 1"]),
      {
        name: "zero-width characters are not white space",
        body: asked(scoreOf(["x", "x\u200b", "x\ufeff"])),
      },
    ],
  ),
  refuses(
    "request.blank",
    "A candidate must not be blank, and state and question must not both be blank.",
    "contract: systemone, rank",
    [
      ...["", " \n", "\u0085\u001f", "\u00a0", "\u2003\u3000"].flatMap((blank) => [
        ranked(["a", blank]),
        { name: `a level ${JSON.stringify(blank)}`, body: asked(scoreOf(["a", blank])) },
        {
          name: `a label ${JSON.stringify(blank)} that stands alone`,
          body: asked(choiceOf({ [blank]: null, b: "x" })),
        },
      ]),
      ...[null, [], {}].map((level) => ({
        name: `a level ${JSON.stringify(level)}`,
        body: asked(scoreOf(["a", level])),
      })),
      ...["", null, {}, "[]", " {} "].map((state) => ({
        name: `state ${JSON.stringify(state)} and a blank question`,
        path: RANK,
        body: { state, question: " ", candidates: ["a", "b"] },
      })),
      {
        name: "one blank question of two",
        body: { state: "", questions: { a: NOUL, b: { ...NOUL, instructions: "" } } },
      },
    ],
  ),
  takes("request.blank-one", "Either state or question may be blank.", "contract: systemone, rank", [
    { name: "a blank state", path: RANK, body: { state: "", question: "Which?", candidates: ["a", "b"] } },
    { name: "a blank question", path: RANK, body: { state: "s", question: "", candidates: ["a", "b"] } },
    { name: "blank instructions", body: asked({ ...NOUL, instructions: " " }) },
    { name: "a blank description for a label", body: asked(choiceOf({ a: "", b: "x" })) },
  ]),
];
