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
import { inner, type Tree, type TreeMap, writeTree } from "./tree.ts";

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
  "candidates of a ranking that hold JSON are read: texts.only-state-holds-json": showing(({ loc, text }) => {
    const held = loc[1] === "questions" ? text : readHeld(text);
    if (held instanceof Map)
      return [...held].map(([name, value]) => `${name}: ${String(value)}`).join("\n\n");
    return Array.isArray(held) ? held.map((item) => `- ${String(item)}`).join("\n") : text;
  }),
  "texts inside a state that hold JSON are read: texts.state-holds-scalars": inState((value) =>
    typeof value === "string" ? readHeld(value) : value,
  ),
  "a state that holds a JSON string is read: texts.state-holds-scalars": state((text) =>
    /^\s*"[^"\\]*"\s*$/.test(text) ? text.trim().slice(1, -1) : text,
  ),
  "a state that holds a JSON number is read: texts.floats": state((text) =>
    /^\s*-?\d[\d.eE+-]*\s*$/.test(text) ? String(Number(text)) : text,
  ),
  "small numbers without an exponent: texts.floats": numbers(/^-?\d[\d.]*e-\d+$/i, (digits) =>
    Number(digits).toFixed(20).replace(/0+$/, ""),
  ),
  "minus zero without its sign: texts.floats": numbers(/^-0\.0$/, () => "0.0"),
  "a state that is not trimmed: request.blank, texts.state-holds-json": state(markEdges),
  "white space beyond ASCII not trimmed: request.distinct-rendered, texts.trimmed-candidates": eachText(
    (text) =>
      text.trim() === "" ? text : text.replaceAll(/^[\u00a0\u2003\u3000]|[\u00a0\u2003\u3000]$/g, "_"),
  ),
  "a full stop trimmed from instructions: scores.as-sent": editQuestions((question) => {
    const text = question.get("instructions");
    if (typeof text === "string") question.set("instructions", text.replace(/(\w)\.$/, "$1"));
  }),
  "entities of HTML decoded: scores.as-sent": eachText((text) =>
    text.replaceAll(/&(amp|lt|gt);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">" })[String(name)] ?? ""),
  ),
  "tags of HTML removed: scores.as-sent": eachText((text) => text.replaceAll(/<\/?[a-z]+>/gi, "")),
  "emoji removed: scores.as-sent": eachText((text) => {
    const rest = text.replaceAll(/\p{Extended_Pictographic}/gu, "");
    return rest.trim() === "" ? text : rest;
  }),
  "texts that differ in a full stop taken as equal: scores.as-sent": refuseAlike((text) =>
    text.replace(/\.$/, ""),
  ),
  "quotation marks trimmed from texts: scores.as-sent, texts.state-holds-scalars": eachText((text) =>
    text.replace(/^"([^"]+)"$/, "$1"),
  ),
  "only the first line of a description shown: request.distinct-enough, scores.as-sent, texts.trimmed":
    editQuestions((question) =>
      within(question.get("criteria"), (text) =>
        typeof text === "string" && text.trim() !== "" ? (text.trim().split("\n")[0] ?? "") : text,
      ),
    ),
  "booleans in a state as numbers: texts.state-holds-json": inState((value) =>
    typeof value === "boolean" ? Number(value) : value,
  ),
  "null in a state as a word: texts.structures": inState((value) => value ?? "none"),
  "empty lists in a state as brackets: texts.structures": inState((value) =>
    Array.isArray(value) && value.length === 0 ? "[]" : value,
  ),
  "__proto__ left out of a state: texts.structures": edit((body) => {
    const remove = (value: Tree | undefined) => {
      if (value instanceof Map && value.size > 1) value.delete("__proto__");
    };
    remove(body.get("state"));
    within(body.get("state"), (value) => {
      remove(value);
      return value;
    });
  }),
  "large numbers without an exponent: json.numbers, texts.state-holds-json": numbers(
    /^-?\d[\d.]*e\+?\d+$/i,
    (digits) => BigInt(Number(digits)).toString(),
  ),
  "the integer -0 with its sign: texts.scalars": numbers(/^-0$/, () => "-0"),
  "a label shown before a description that equals it: texts.labels": showing(({ loc, label, text }) =>
    loc[3] === "criteria" && text === label && loc[4] === label ? `${label}: ${text}` : text,
  ),
  "the outcome without a description made of the other: texts.trimmed": editQuestions((question) => {
    const criteria = inner(question, "criteria");
    const described = criteria.get("true") ?? criteria.get("yes");
    if (question.get("type") !== "noul" || typeof described !== "string" || described.trim() === "") return;
    if (!criteria.has("false") && !criteria.has("no")) criteria.set("false", `not ${described}`);
  }),
  "structured instructions shown as JSON: texts.trimmed": editQuestions((question) => {
    const value = question.get("instructions") ?? null;
    if (isNested(value)) question.set("instructions", `. ${writeTree(value)}`);
  }),
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
  "numbers as descriptions shown by their place: texts.levels": editQuestions((question) => {
    const criteria = question.get("criteria");
    if (Array.isArray(criteria))
      for (const [index, level] of criteria.entries())
        if (typeof level === "number") criteria[index] = `level ${index}`;
  }),
  "texts that differ in capitals taken as equal: rank.ties, request.distinct-enough": refuseAlike((text) =>
    text.toLowerCase(),
  ),
  "texts that differ in their Unicode form taken as equal: rank.ties, request.distinct-enough": refuseAlike(
    (text) => text.normalize("NFC"),
  ),
  "texts that differ in white space inside taken as equal: rank.ties, request.distinct-enough": refuseAlike(
    (text) => text.replaceAll(/\s+/g, " "),
  ),
  "a level that is a number differs from the same digits: request.distinct-rendered": editQuestions(
    (question) => {
      const levels = question.get("criteria");
      if (
        Array.isArray(levels) &&
        levels.some((one) => levels.some((other) => other !== one && String(other) === one))
      )
        question.set(
          "criteria",
          levels.map((level) => (typeof level === "number" ? `number ${level}` : level)),
        );
    },
  ),
});
