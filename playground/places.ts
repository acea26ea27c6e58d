import { findNodeAtLocation, type Node } from "jsonc-parser";
import type { Form, Question, Row } from "./request.ts";

/** One issue of a 422, as the contract gives it. */
export interface Issue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** Ids of the form's fields. */
export const fieldIds = {
  state: "state",
  model: "model",
  question: "question",
  questions: "questions",
  candidates: "candidates",
  part: (question: Question, part: "name" | "type" | "instructions" | "criteria" | "false" | "true") =>
    `question-${question.id}-${part}`,
  label: ({ id }: Row) => `label-${id}`,
  text: ({ id }: Row) => `text-${id}`,
} as const;

/** The service cuts names in locations to so many characters. */
const MAX_NAME_LENGTH = 100;

/** The id of the form's field that an issue is about, undefined where it is about the whole body. */
export function fieldOf(form: Form, [, member, ...path]: Issue["loc"]): string | undefined {
  switch (member) {
    case "state":
    case "context":
      return fieldIds.state;
    case "model":
      return fieldIds.model;
    case "question":
      return fieldIds.question;
    case "candidates":
    case "answers":
      return rowField(form.candidates, path[0], fieldIds.candidates);
    case "questions":
      return path.length === 0 ? fieldIds.questions : questionField(form, path);
    default:
      return undefined;
  }
}

function questionField(form: Form, [name, part, detail]: Issue["loc"]): string {
  const question = form.questions.findLast((each) => isNamed(each.name, name));
  if (question === undefined) return fieldIds.questions;
  if (part === "type" || part === "instructions") return fieldIds.part(question, part);
  if (part !== "criteria") return fieldIds.part(question, "name");
  if (question.type === "noul") {
    if (detail === "false" || detail === "no") return fieldIds.part(question, "false");
    return fieldIds.part(question, detail === undefined ? "instructions" : "true");
  }
  const rows = question.type === "choice" ? question.labels : question.levels;
  return rowField(rows, detail, fieldIds.part(question, "criteria"));
}

/** @param detail a label or a position; undefined where all rows are meant */
function rowField(rows: readonly Row[], detail: string | number | undefined, group: string): string {
  if (detail === undefined) return group;
  const found =
    typeof detail === "number" ? rows[detail] : rows.findLast(({ label }) => isNamed(label, detail));
  return found === undefined ? group : fieldIds.text(found);
}

const isNamed = (name: string, given: string | number | undefined): boolean =>
  typeof given === "string" &&
  name.slice(0, MAX_NAME_LENGTH).startsWith(given) &&
  (name === given || given.length >= MAX_NAME_LENGTH - 1);

/** Where in a JSON text an issue is: the place itself, or the innermost one that is there. */
export function spanOf(tree: Node, loc: Issue["loc"]): { readonly offset: number; readonly length: number } {
  for (let path = loc.slice(1); path.length > 0; path = path.slice(0, -1)) {
    const node = findNodeAtLocation(tree, path);
    if (node !== undefined) return node.parent?.type === "property" ? node.parent : node;
  }
  return { offset: tree.offset, length: 1 };
}

/** A location as people write it: `questions.angry.type`. */
export const pathText = (loc: Issue["loc"]): string => loc.slice(1).join(".") || "the body";
