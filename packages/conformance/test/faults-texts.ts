import { faults, on, type PlantedFault } from "./planted-fault.ts";
import {
  edit,
  editQuestions,
  lengthOf,
  markEdges,
  questionsOf,
  readHeld,
  refusing,
  showing,
} from "./planting.ts";
import { type Tree, type TreeMap, writeTree } from "./tree.ts";

/** Changes what is inside a value, the value itself not. */
function within(value: Tree | undefined, change: (value: Tree) => Tree): void {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) {
      within(item, change);
      value[index] = change(item);
    }
  if (value instanceof Map)
    for (const [name, member] of value) {
      within(member, change);
      value.set(name, change(member));
    }
}
const inState = (change: (value: Tree) => Tree) =>
  edit((body) => {
    within(body.get("state"), change);
  });
/** Changes all texts that the model would see. */
const eachText = (change: (text: string) => string) =>
  edit((body) => {
    const member = (map: TreeMap, name: string) => {
      const value = map.get(name);
      if (typeof value === "string") map.set(name, change(value));
      else within(value, (one) => (typeof one === "string" ? change(one) : one));
    };
    for (const name of ["state", "question", "candidates"]) member(body, name);
    for (const question of questionsOf(body))
      for (const name of ["instructions", "criteria"]) member(question, name);
  });
const state = (change: (text: string) => string) =>
  edit((body) => {
    const value = body.get("state");
    if (typeof value === "string") body.set("state", change(value));
  });
/** Changes numbers of a request that stand outside of strings; the new ones are texts. */
const numbers = (pattern: RegExp, write: (digits: string) => string) =>
  on.request((text: string) =>
    text.replaceAll(/("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/g, (all, quoted, digits) =>
      quoted === undefined && pattern.test(digits) ? JSON.stringify(write(digits)) : all,
    ),
  );
/** Refuses lists of candidates in which two come to the same. */
const refuseAlike = (write: (text: string) => string) =>
  refusing((body) => {
    const given = [body.get("candidates"), ...questionsOf(body).map((question) => question.get("criteria"))];
    return given.some((list) => {
      const texts = list instanceof Map ? [...list.values()] : Array.isArray(list) ? list : [];
      const strings = texts.filter((text) => typeof text === "string").map(write);
      return new Set(strings).size < strings.length;
    });
  });
const isNested = (value: Tree) => lengthOf(value) > 0;

/** Texts that are rendered differently from the contract. */
export const TEXT_FAULTS: readonly PlantedFault[] = faults({
  "labels that hold JSON are read: texts.labels-stay": editQuestions((question) => {
    const criteria = question.get("criteria");
    if (criteria instanceof Map)
      for (const [label, text] of criteria)
        if ((text === null || text === "") && isNested(readHeld(label))) criteria.set(label, readHeld(label));
  }),
  "a state that holds a JSON string is read: texts.state-holds-scalars": state((text) =>
    /^\s*"[^"\\]*"\s*$/.test(text) ? text.trim().slice(1, -1) : text,
  ),
  "minus zero without its sign: texts.floats": numbers(/^-0\.0$/, () => "0.0"),
  "a state that is not trimmed: request.blank, texts.state-holds-json": state(markEdges),
  "white space beyond ASCII not trimmed: request.distinct-rendered, texts.trimmed-candidates": eachText(
    (text) =>
      text.trim() === "" ? text : text.replaceAll(/^[\u00a0\u2003\u3000]|[\u00a0\u2003\u3000]$/g, "_"),
  ),
  "tags of HTML removed: scores.as-sent": eachText((text) => text.replaceAll(/<\/?[a-z]+>/gi, "")),
  "quotation marks trimmed from texts: scores.as-sent, texts.state-holds-scalars": eachText((text) =>
    text.replace(/^"([^"]+)"$/, "$1"),
  ),
  "null in a state as a word: texts.structures": inState((value) => value ?? "none"),
  "empty lists in a state as brackets: texts.structures": inState((value) =>
    Array.isArray(value) && value.length === 0 ? "[]" : value,
  ),
  "the integer -0 with its sign: texts.scalars": numbers(/^-0$/, () => "-0"),
  "a label shown before a description that equals it: texts.labels": showing(({ loc, label, text }) =>
    loc[3] === "criteria" && text === label && loc[4] === label ? `${label}: ${text}` : text,
  ),
  "a null question of a ranking shown as a word: rank.null-question": edit((body) => {
    if (body.has("candidates") && body.get("question") === null) body.set("question", "null");
  }),
  "structured descriptions shown as JSON: request.distinct-rendered, texts.levels": editQuestions(
    (question) =>
      within(question.get("criteria"), (value) => (isNested(value) ? `. ${writeTree(value)}` : value)),
  ),
  "a structured question of a ranking shown as JSON: texts.noul-half": edit((body) => {
    const value = body.get("question") ?? null;
    if (isNested(value)) body.set("question", `. ${writeTree(value)}`);
  }),
  "texts that differ in their Unicode form taken as equal: rank.ties, request.distinct-enough": refuseAlike(
    (text) => text.normalize("NFC"),
  ),
  "texts that differ in white space inside taken as equal: rank.ties, request.distinct-enough": refuseAlike(
    (text) => text.replaceAll(/\s+/g, " "),
  ),
});
