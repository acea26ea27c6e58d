import { type Check, checksOf } from "../../trial/check.ts";
import { NOUL, SMALL, SMALL_RANK } from "../../trial/operations.ts";
import { asked, each, rankings, refuses, takes, toRank } from "../cases.ts";
import { CHOICE, choiceOf, SCORE, scoreOf } from "../scored.ts";

const NO_OBJECTS = [null, true, 5, "text", ["a"]];
/** Some Unicode white space. Byte order marks and zero-width characters are not white space. */
const SPACES = [" ", "\t\r\n", "\v\f", "\u001c", "\u001f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000"];
const PADDED = SPACES.flatMap((space) => [`x${space}`, `${space}x`]);
const BLANKS = ["", " \n", "\u0085\u001f", "\u00a0", "\u2003\u3000"];
const STATES = ["text", 5, 1.5, true, { a: 1, b: [2] }, ["a", { b: 1 }]];
const TEXTS = ["text", 5, true, { a: 1 }, ["a"]];
const DESCRIPTIONS = [5, true, 1.5, ["a", 1], { a: { b: [] }, c: 1 }];
const noulOf = (criteria: unknown) => asked({ ...NOUL, criteria });
/** A question as JSON text, for members that JavaScript's objects cannot have. */
const QUESTION = '"type":"noul","instructions":"i"';

/** Checks of the shapes of requests: what must be accepted and what refused. */
export const REQUEST_CHECKS: readonly Check[] = [
  ...checksOf("interface: SystemoneRequest", {
    "request.state.any-json": takes("`state` may be any JSON value.", {
      ...each(STATES, (state) => ({ ...SMALL, state }), "systemone, "),
      ...each(STATES, (state) => toRank({ ...SMALL_RANK, state }), "rank, "),
    }),
    "request.required": refuses(
      "`state`, `questions`, `type`, `instructions` and `candidates` are required.",
      {
        "no state": { questions: { q: NOUL } },
        "no questions": { state: "s" },
        "no type": asked({ instructions: "Is it late?" }),
        "no instructions": asked({ type: "noul" }),
        "a choice without instructions": asked({ type: "choice", criteria: CHOICE.criteria }),
        "no candidates": toRank({ state: "s" }),
        "a ranking without a state": toRank({ candidates: ["a", "b"] }),
        "an empty object": {},
        "an empty object to rank": toRank({}),
      },
    ),
    "request.unknown-field": refuses("Unknown fields of a body are refused.", {
      systemone: { ...SMALL, extra: 1 },
      "systemone, null": { ...SMALL, extra: null },
      "systemone with temperature": { ...SMALL, temperature: 1 },
      rank: toRank({ ...SMALL_RANK, extra: 1 }),
      "rank with top_n": toRank({ ...SMALL_RANK, top_n: 1 }),
      "rank with questions": toRank({ ...SMALL_RANK, questions: {} }),
      "systemone with candidates": { ...SMALL, candidates: ["a", "b"] },
    }),
    "request.questions-shape": refuses("`questions` is an object of question objects.", {
      ...each(NO_OBJECTS, (questions) => ({ state: "s", questions }), "questions "),
      ...each(NO_OBJECTS, (question) => asked(question), "a question "),
    }),
  }),
  ...checksOf("interface: Question", {
    "request.instructions.any-json": takes("`instructions` and `question` may be any JSON value.", {
      ...each(TEXTS, (instructions) => asked({ ...NOUL, instructions }), "instructions "),
      ...each(TEXTS, (question) => toRank({ ...SMALL_RANK, question }), "question "),
    }),
    "request.noul-criteria": takes("A noul may have no criteria.", {
      "no criteria": asked(NOUL),
      "both outcomes": noulOf({ false: "early", true: "late" }),
    }),
    "request.question-type": refuses("A question's type is choice, noul or score.", {
      ...each(["rank", "boolean", "Choice", "", 5, null, ["noul"]], (type) =>
        asked({ type, instructions: "Is it late?" }),
      ),
      ...each(
        [CHOICE, NOUL, SCORE],
        (one) => asked({ ...one, type: one.type.toUpperCase() }),
        "in capitals, ",
      ),
    }),
    "request.criteria-shape": refuses(
      "`criteria` is a mapping for a choice, a list for a score, a mapping for a noul.",
      {
        ...each([["a", "b"], "text", 5, true], (criteria) => asked(choiceOf(criteria)), "choice, "),
        ...each(
          [{ "0": "a", "1": "b" }, "text", 5, true],
          (criteria) => asked({ ...SCORE, criteria }),
          "score, ",
        ),
        ...each(["text", ["a", "b"], 5, true], noulOf, "noul, "),
      },
    ),
  }),
  ...checksOf("contract: Question, Texts", {
    "request.null": takes("null is a valid `state`, `instructions` and `question`.", {
      "a null state": { ...SMALL, state: null },
      "null instructions": asked({ ...NOUL, instructions: null }),
      "a null question": toRank({ ...SMALL_RANK, question: null }),
      "a null state in a ranking": toRank({ ...SMALL_RANK, state: null, question: "Which?" }),
    }),
  }),
  ...checksOf("contract: Texts", {
    "request.descriptions.any-json": takes("Descriptions may be any JSON value.", {
      ...each(DESCRIPTIONS, (value) => asked(choiceOf({ a: value, b: "other" })), "a label's "),
      ...each(DESCRIPTIONS, (value) => asked(scoreOf([value, "other"])), "a level's "),
      ...each(DESCRIPTIONS, (value) => noulOf({ true: value }), "an outcome's "),
    }),
  }),
  ...checksOf("contract: Question", {
    "request.noul-criteria-partly": takes("Criteria of a noul may be null, empty, or describe one outcome.", {
      null: noulOf(null),
      "{}": noulOf({}),
      "true alone": noulOf({ true: "late" }),
      "false alone": noulOf({ false: "early" }),
      "a null outcome": noulOf({ false: null, true: "late" }),
    }),
    "request.criteria-required": refuses("`criteria` is required for choice and score.", {
      ...each(["choice", "score"], (type) => asked({ type, instructions: "Which?" })),
      ...each(
        ["choice", "score"],
        (type) => asked({ type, instructions: "Which?", criteria: null }),
        "null, ",
      ),
    }),
    "request.unknown-question-field": refuses("Unknown fields of a question are refused.", {
      ...Object.assign(
        {},
        ...[CHOICE, NOUL, SCORE].map((question) =>
          each(
            ["extra", "legend", "Type", "labels", ""],
            (name) => asked({ ...question, [name]: "x" }),
            `${question.type} with `,
          ),
        ),
      ),
      "an unknown outcome": noulOf({ maybe: "x" }),
      "an outcome in capitals": noulOf({ True: "x" }),
      "__proto__ in a body": `{"__proto__":1,"state":"s","questions":{"q":{${QUESTION}}}}`,
      "__proto__ in a question": `{"state":"s","questions":{"q":{${QUESTION},"__proto__":1}}}`,
      "a state inherited from __proto__": `{"__proto__":{"state":"s"},"questions":{"q":{${QUESTION}}}}`,
      "constructor in a ranking": toRank('{"state":"s","candidates":["a","b"],"constructor":1}'),
    }),
  }),
  ...checksOf("interface: RankRequest", {
    "request.rank-candidates": takes("Candidates are a mapping or a list of strings.", {
      "a list": toRank(SMALL_RANK),
      "a mapping": toRank({ state: "s", candidates: { a: "early", b: "late" } }),
    }),
    "request.distinct": refuses("Candidates must be distinct.", {
      ...rankings(["x", "y", "x"], { a: "x", b: "x" }),
      "equal levels": asked(scoreOf(["x", "y", "x"])),
    }),
  }),
  ...checksOf("interface: Errors", {
    "request.candidates-shape": refuses("Candidates are strings, in a mapping or a list.", {
      ...rankings(null, "text", 5, true),
      ...rankings(...[5, null, true, ["a"], { a: 1 }].flatMap((odd) => [["a", odd], { a: "a", b: odd }])),
    }),
  }),
  ...checksOf("contract: systemone, rank", {
    "request.distinct-rendered": refuses(
      "Descriptions must differ after rendering and trimming, whatever their labels.",
      {
        "equal descriptions": asked(choiceOf({ a: "x", b: "x" })),
        "equal after trimming": asked(choiceOf({ a: "x", b: " x\n" })),
        "a number and its text": asked(choiceOf({ a: 5, b: "5" })),
        "a level that is a number and its text": asked(scoreOf([5, "5", "y"])),
        "true and its text": asked(scoreOf([true, "true"])),
        "an object and its text": asked(scoreOf([{ k: 1 }, "k: 1"])),
        "a list and its text": asked(scoreOf([["k"], "- k"])),
        "a label in place of its description": asked(choiceOf({ a: null, b: "a" })),
        "a label in place of a blank description": asked(choiceOf({ a: "  ", b: "a" })),
        "equal outcomes": noulOf({ false: "x", true: " x" }),
        ...rankings(["x", "x "], ["x", "x\u0085"], { a: "x", b: "\tx" }),
        ...each(PADDED, (padded) => asked(scoreOf(["x", "y", padded])), "levels x and "),
        ...each(PADDED, (padded) => asked(choiceOf({ a: padded, b: "x" })), "descriptions x and "),
        ...rankings(...PADDED.map((padded) => ["y", padded, "x"])),
        "equal levels after rendering and trimming": asked(scoreOf([["", "a "], "- \n- a"])),
        "an object that ends with white space": asked(choiceOf({ a: { k: " x " }, b: "k:  x" })),
        "a padded label in place of its description": asked(choiceOf({ " a ": " ", b: "a" })),
        "equal outcomes under their aliases": noulOf({ no: "x\t", yes: "x" }),
        "equal descriptions in the last question": {
          state: "s",
          questions: { a: NOUL, b: scoreOf(["u", "v"]), c: scoreOf(["x\n", "x"]) },
        },
      },
    ),
    "request.distinct-enough": takes("Candidates that differ in one character are distinct.", {
      case: asked(choiceOf({ a: "x", b: "X" })),
      "white space within": asked(choiceOf({ a: "x y", b: "x  y" })),
      "accents in two Unicode forms": asked(choiceOf({ a: "é", b: "e\u0301" })),
      "labels swapped as descriptions": asked(choiceOf({ a: "b", b: "a" })),
      "a label that is its description": asked(choiceOf({ a: "a", b: null })),
      "two equal questions": { state: "s", questions: { a: NOUL, b: NOUL } },
      ...rankings(["[1]", "- 1"]),
      "zero-width characters are not white space": asked(scoreOf(["x", "x\u200b", "x\ufeff"])),
    }),
    "request.blank": refuses(
      "A candidate must not be blank, and state and question must not both be blank.",
      {
        ...rankings(...BLANKS.map((blank) => ["a", blank])),
        ...each([...BLANKS, null, [], {}], (level) => asked(scoreOf(["a", level])), "a level "),
        ...each(BLANKS, (label) => asked(choiceOf({ [label]: null, b: "x" })), "a label that stands alone, "),
        ...each(
          ["", null, {}, "[]", " {} "],
          (state) => toRank({ state, question: " ", candidates: ["a", "b"] }),
          "a blank question and the state ",
        ),
        "one blank question of two": {
          state: "",
          questions: { a: NOUL, b: { ...NOUL, instructions: "" } },
        },
      },
    ),
    "request.blank-one": takes("Either state or question may be blank.", {
      "a blank state": toRank({ state: "", question: "Which?", candidates: ["a", "b"] }),
      "a blank question": toRank({ state: "s", question: "", candidates: ["a", "b"] }),
      "blank instructions": asked({ ...NOUL, instructions: " " }),
      "a blank description for a label": asked(choiceOf({ a: "", b: "x" })),
    }),
  }),
];
