import { parseTree } from "jsonc-parser";

/** What the form shows. `toBody` writes it as the body of a request. */
export interface Form {
  readonly operation: Operation;
  /** A text; one that holds a JSON object or array is sent as that. */
  readonly state: string;
  readonly questions: readonly Question[];
  /** Of a ranking. */
  readonly question: string;
  readonly candidates: readonly Row[];
  /** Undefined: the served model. */
  readonly model?: string | undefined;
}

export type Operation = "systemone" | "rank";
export type QuestionType = "choice" | "noul" | "score";

/**
 * A question with the criteria of all three types, so that nothing is lost when the type is changed and changed back.
 */
export interface Question {
  /** Unique in a page: names its fields. */
  readonly id: number;
  readonly name: string;
  readonly type: QuestionType;
  readonly instructions: string;
  /** Of a choice: label and description. */
  readonly labels: readonly Row[];
  /** Of a score, lowest first; without labels. */
  readonly levels: readonly Row[];
  /** Of a yes/no question; blank: none. */
  readonly no: string;
  readonly yes: string;
}

export interface Row {
  readonly id: number;
  readonly label: string;
  readonly text: string;
}

let lastId = 0;

/** A number that no question or row has yet. */
function newId(): number {
  lastId += 1;
  return lastId;
}

export const row = (label = "", text = ""): Row => ({ id: newId(), label, text });

export function newQuestion(type: QuestionType, name: string): Question {
  return {
    id: newId(),
    name,
    type,
    instructions: "",
    labels: [row(), row()],
    levels: [row(), row()],
    no: "",
    yes: "",
  };
}

export const EMPTY_FORM: Form = {
  operation: "systemone",
  state: "",
  questions: [],
  question: "",
  candidates: [],
};

/** A name for a further question: `question`, `question 2`, ... */
export function freeName(questions: readonly Question[]): string {
  const taken = new Set(questions.map(({ name }) => name));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "question" : `question ${number}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * JSON that keeps the order of its members, also of names such as "10", which JavaScript's objects would move to the
 * front.
 */
type Json = string | readonly Json[] | Members;
interface Members {
  readonly members: readonly (readonly [name: string, value: Json])[];
}

/** The text of the request's body, indented by two spaces. Equal names stay: the service refuses them. */
export function toBody(form: Form): string {
  const state = stateJson(form.state);
  const asked: Members["members"] =
    form.operation === "systemone"
      ? [["questions", { members: form.questions.map((each) => [each.name, questionJson(each)]) }]]
      : [
          ...(form.question === "" ? [] : [["question", quoted(form.question)] as const]),
          ["candidates", candidatesJson(form.candidates)],
        ];
  const model = form.model === undefined ? [] : [["model", quoted(form.model)] as const];
  return written({ members: [["state", state], ...asked, ...model] }, "");
}

/** Whether a state is sent as the object or array that it holds. The service renders both alike. */
export function isStructured(state: string): boolean {
  if (!/^\s*[[{]/.test(state)) return false;
  const errors: never[] = [];
  const tree = parseTree(state, errors, { disallowComments: true, allowTrailingComma: false });
  return errors.length === 0 && tree !== undefined;
}

const stateJson = (state: string): Json => (isStructured(state) ? state.trim() : quoted(state));
const quoted = (text: string): string => JSON.stringify(text);

function questionJson({ type, instructions, labels, levels, no, yes }: Question): Json {
  const head: Members["members"] = [
    ["type", quoted(type)],
    ["instructions", quoted(instructions)],
  ];
  if (type === "choice") return { members: [...head, ["criteria", labelled(labels)]] };
  if (type === "score") return { members: [...head, ["criteria", levels.map(({ text }) => quoted(text))]] };
  const outcomes: Members["members"] = [
    ...(no === "" ? [] : [["false", quoted(no)] as const]),
    ...(yes === "" ? [] : [["true", quoted(yes)] as const]),
  ];
  return { members: outcomes.length === 0 ? head : [...head, ["criteria", { members: outcomes }]] };
}

/** A label without a description stands for itself. */
const labelled = (rows: readonly Row[]): Members => ({
  members: rows.map(({ label, text }) => [label, text === "" ? "null" : quoted(text)]),
});

/** A list, or labelled texts as soon as one has a label; one without is labelled by its position then. */
function candidatesJson(rows: readonly Row[]): Json {
  if (rows.every(({ label }) => label === "")) return rows.map(({ text }) => quoted(text));
  return {
    members: rows.map(({ label, text }, index) => [label === "" ? String(index) : label, quoted(text)]),
  };
}

function written(json: Json, indent: string): string {
  const inner = `${indent}  `;
  if (typeof json === "string") return json.replaceAll("\n", `\n${indent}`); // only a structured state has lines
  const lines = Array.isArray(json)
    ? json.map((item) => written(item, inner))
    : (json as Members).members.map(([name, value]) => `${quoted(name)}: ${written(value, inner)}`);
  const [open, close] = Array.isArray(json) ? "[]" : "{}";
  if (lines.length === 0) return `${open}${close}`;
  return `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`;
}
