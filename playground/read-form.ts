import { type Node, type ParseError, parseTree } from "jsonc-parser";
import {
  EMPTY_FORM,
  type Form,
  newQuestion,
  type Operation,
  type Question,
  type Row,
  row,
} from "./request.ts";

/** Where a JSON text breaks off, counted from 1. */
export interface Break {
  readonly line: number;
  readonly column: number;
}

export interface ParsedText {
  /** Undefined where the text is no JSON. */
  readonly tree: Node | undefined;
  readonly breaks: Break | undefined;
}

/** A JSON text as a tree that keeps order, digits and places. */
export function parseText(text: string): ParsedText {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (first !== undefined) return { tree: undefined, breaks: placeOf(text, first.offset) };
  if (tree === undefined) return { tree: undefined, breaks: placeOf(text, text.length) };
  return { tree, breaks: undefined };
}

export function placeOf(text: string, offset: number): Break {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The body of a request as a form, or why the form cannot show it. */
export function toForm(text: string, operation: Operation): Form | string {
  const { tree, breaks } = parseText(text);
  if (tree === undefined) return `The text is not JSON: line ${breaks?.line}, column ${breaks?.column}.`;
  try {
    return formOf(tree, text, operation);
  } catch (error) {
    if (error instanceof NotShown) return `The form cannot show ${error.message}. Change it here.`;
    throw error;
  }
}

/** Something that a request may have, and the form has no field for. */
class NotShown extends Error {}

function formOf(tree: Node, text: string, operation: Operation): Form {
  const known =
    operation === "systemone"
      ? ["state", "questions", "model"]
      : ["state", "question", "candidates", "model"];
  const members = membersOf(tree, "a body that is no object", known);
  const member = (name: string) => members.find(([given]) => given === name)?.[1];
  const model = member("model");
  const form: Form = {
    ...EMPTY_FORM,
    operation,
    state: stateOf(member("state"), text),
    ...(model === undefined ? {} : { model: textOf(model, "a model that is no string") }),
  };
  if (operation === "systemone") {
    const questions = member("questions");
    if (questions === undefined) return form;
    const given = membersOf(questions, "questions that are no object");
    return { ...form, questions: given.map(([name, node]) => questionOf(name, node)) };
  }
  const candidates = member("candidates");
  return {
    ...form,
    question: optionalText(member("question"), "a question that is no text"),
    candidates: candidates === undefined ? [] : candidateRows(candidates),
  };
}

/** Objects and arrays as they are written; the service renders a text that holds one alike. */
function stateOf(node: Node | undefined, text: string): string {
  if (node?.type === "object" || node?.type === "array") return dedented(text, node);
  return optionalText(node, "a state that is a number or a boolean");
}

/** The part of the text without the indentation that its place gives it. */
function dedented(text: string, { offset, length }: Node): string {
  const part = text.slice(offset, offset + length);
  const lineStart = text.lastIndexOf("\n", offset) + 1;
  const indent = /^ */.exec(text.slice(lineStart, offset))?.[0] ?? "";
  return part.replaceAll(`\n${indent}`, "\n");
}

function questionOf(name: string, node: Node): Question {
  const members = membersOf(node, "a question that is no object", ["type", "instructions", "criteria"]);
  const member = (wanted: string) => members.find(([given]) => given === wanted)?.[1];
  const type = textOf(member("type"), "a question without a type");
  if (type !== "choice" && type !== "noul" && type !== "score")
    throw new NotShown("a question of another type than choice, noul or score");
  const question: Question = {
    ...newQuestion(type, name),
    instructions: optionalText(member("instructions"), "instructions that are no text"),
  };
  const criteria = member("criteria");
  if (type === "choice") {
    const labels = criteria === undefined ? [] : rowsOf(criteria, "criteria of a choice that are no object");
    return { ...question, labels };
  }
  if (type === "score") {
    if (criteria !== undefined && criteria.type !== "array")
      throw new NotShown("criteria of a score that are no array");
    const levels = (criteria?.children ?? []).map((level) =>
      row("", optionalText(level, "a level that is no text")),
    );
    return { ...question, levels };
  }
  if (criteria === undefined || criteria.type === "null") return question;
  const known = ["false", "true", "no", "yes"];
  const outcomes = membersOf(criteria, "criteria of a yes/no question that are no object", known);
  const outcome = (...names: readonly string[]) => {
    const given = outcomes.filter(([each]) => names.includes(each));
    if (given.length > 1) throw new NotShown("one outcome under two names");
    return optionalText(given[0]?.[1], "a description that is no text");
  };
  return { ...question, no: outcome("false", "no"), yes: outcome("true", "yes") };
}

function candidateRows(node: Node): readonly Row[] {
  if (node.type !== "array") return rowsOf(node, "candidates that are neither an array nor an object");
  return (node.children ?? []).map((child) => row("", textOf(child, "a candidate that is no string")));
}

const rowsOf = (node: Node, problem: string): readonly Row[] =>
  membersOf(node, problem).map(([label, value]) =>
    row(label, optionalText(value, "a description that is no text")),
  );

/** In the order of the text, equal names too. @param known undefined: any name */
function membersOf(
  node: Node,
  problem: string,
  known?: readonly string[],
): readonly (readonly [string, Node])[] {
  if (node.type !== "object") throw new NotShown(problem);
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) => {
    if (key === undefined || value === undefined) return [];
    const name = String(key.value);
    if (known !== undefined && !known.includes(name))
      throw new NotShown(`the member ${JSON.stringify(name)}`);
    return [[name, value] as const];
  });
}

/** Null and a missing member are no text. */
function optionalText(node: Node | undefined, problem: string): string {
  return node === undefined || node.type === "null" ? "" : textOf(node, problem);
}

function textOf(node: Node | undefined, problem: string): string {
  if (node?.type !== "string") throw new NotShown(problem);
  return String(node.value);
}
