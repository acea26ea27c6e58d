import type { PlantedFault } from "./planted-fault.ts";
import {
  edit,
  editQuestions,
  lengthOf,
  markEdges,
  questionsOf,
  readHeld,
  refuseWhen,
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
const numbers = (pattern: RegExp, write: (digits: string) => string) => ({
  request: (text: string) =>
    text.replaceAll(/("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/g, (all, quoted, digits) =>
      quoted === undefined && pattern.test(digits) ? JSON.stringify(write(digits)) : all,
    ),
});
/** Refuses lists of candidates in which two come to the same. */
const refuseAlike = (write: (text: string) => string) => ({
  reply: refuseWhen((body) => {
    const given = [body.get("candidates"), ...questionsOf(body).map((question) => question.get("criteria"))];
    return given.some((list) => {
      const texts = list instanceof Map ? [...list.values()] : Array.isArray(list) ? list : [];
      const strings = texts.filter((text) => typeof text === "string").map(write);
      return new Set(strings).size < strings.length;
    });
  }),
});
const isNested = (value: Tree) => lengthOf(value) > 0;

/** Texts that are rendered differently from the contract. */
export const TEXT_FAULTS: readonly PlantedFault[] = [
  {
    name: "labels that hold JSON are read",
    fault: editQuestions((question) => {
      const criteria = question.get("criteria");
      if (criteria instanceof Map)
        for (const [label, text] of criteria)
          if ((text === null || text === "") && isNested(readHeld(label)))
            criteria.set(label, readHeld(label));
    }),
    fails: ["texts.labels-stay"],
  },
  {
    name: "candidates of a ranking that hold JSON are read",
    fault: showing(({ loc, text }) => {
      const held = loc[1] === "questions" ? text : readHeld(text);
      if (held instanceof Map)
        return [...held].map(([name, value]) => `${name}: ${String(value)}`).join("\n\n");
      return Array.isArray(held) ? held.map((item) => `- ${String(item)}`).join("\n") : text;
    }),
    fails: ["texts.only-state-holds-json"],
  },
  {
    name: "texts inside a state that hold JSON are read",
    fault: inState((value) => (typeof value === "string" ? readHeld(value) : value)),
    fails: ["texts.state-holds-scalars"],
  },
  {
    name: "a state that holds a JSON number is read",
    fault: state((text) => (/^\s*-?\d[\d.eE+-]*\s*$/.test(text) ? String(Number(text)) : text)),
    fails: ["texts.floats", "texts.scalars"],
  },
  {
    name: "a state that holds a JSON string is read",
    fault: state((text) => (/^\s*"[^"\\]*"\s*$/.test(text) ? text.trim().slice(1, -1) : text)),
    fails: ["texts.state-holds-scalars"],
  },
  {
    name: "a state that is not trimmed",
    fault: state(markEdges),
    fails: ["request.blank", "texts.scalars", "texts.state-holds-json"],
  },
  {
    name: "white space beyond ASCII not trimmed",
    fault: eachText((text) =>
      text.trim() === "" ? text : text.replaceAll(/^[\u00a0\u2003\u3000]|[\u00a0\u2003\u3000]$/g, "_"),
    ),
    fails: ["request.distinct-rendered", "texts.trimmed", "texts.trimmed-candidates"],
  },
  {
    name: "a full stop trimmed from instructions",
    fault: editQuestions((question) => {
      const text = question.get("instructions");
      if (typeof text === "string") question.set("instructions", text.replace(/(\w)\.$/, "$1"));
    }),
    fails: ["scores.as-sent"],
  },
  {
    name: "quotation marks trimmed from texts",
    fault: eachText((text) => text.replace(/^"([^"]+)"$/, "$1")),
    fails: ["scores.as-sent", "texts.only-state-holds-json", "texts.state-holds-scalars"],
  },
  {
    name: "entities of HTML decoded",
    fault: eachText((text) =>
      text.replaceAll(/&(amp|lt|gt);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">" })[String(name)] ?? ""),
    ),
    fails: ["scores.as-sent"],
  },
  {
    name: "tags of HTML removed",
    fault: eachText((text) => text.replaceAll(/<\/?[a-z]+>/gi, "")),
    fails: ["scores.as-sent"],
  },
  {
    name: "emoji removed",
    fault: eachText((text) => {
      const rest = text.replaceAll(/\p{Extended_Pictographic}/gu, "");
      return rest.trim() === "" ? text : rest;
    }),
    fails: ["scores.as-sent"],
  },
  {
    name: "only the first line of a description shown",
    fault: editQuestions((question) =>
      within(question.get("criteria"), (text) =>
        typeof text === "string" && text.trim() !== "" ? (text.trim().split("\n")[0] ?? "") : text,
      ),
    ),
    fails: [
      "request.distinct-enough",
      "request.distinct-rendered",
      "scores.as-sent",
      "texts.scalars",
      "texts.structures",
      "texts.trimmed",
    ],
  },
  {
    name: "booleans in a state as numbers",
    fault: inState((value) => (typeof value === "boolean" ? Number(value) : value)),
    fails: ["texts.state-holds-json", "texts.structures"],
  },
  {
    name: "null in a state as a word",
    fault: inState((value) => value ?? "none"),
    fails: ["texts.structures"],
  },
  {
    name: "empty lists in a state as brackets",
    fault: inState((value) => (Array.isArray(value) && value.length === 0 ? "[]" : value)),
    fails: ["texts.structures"],
  },
  {
    name: "small numbers without an exponent",
    fault: numbers(/^-?\d[\d.]*e-\d+$/i, (digits) => Number(digits).toFixed(20).replace(/0+$/, "")),
    fails: ["texts.floats"],
  },
  {
    name: "large numbers without an exponent",
    fault: numbers(/^-?\d[\d.]*e\+?\d+$/i, (digits) => BigInt(Number(digits)).toString()),
    fails: ["json.numbers", "texts.floats", "texts.state-holds-json"],
  },
  { name: "minus zero without its sign", fault: numbers(/^-0\.0$/, () => "0.0"), fails: ["texts.floats"] },
  { name: "the integer -0 with its sign", fault: numbers(/^-0$/, () => "-0"), fails: ["texts.scalars"] },
  {
    name: "a label shown before a description that equals it",
    fault: showing(({ loc, label, text }) =>
      loc[3] === "criteria" && text === label && loc[4] === label ? `${label}: ${text}` : text,
    ),
    fails: ["texts.labels"],
  },
  {
    name: "the outcome without a description made of the other",
    fault: editQuestions((question) => {
      const criteria = inner(question, "criteria");
      const described = criteria.get("true") ?? criteria.get("yes");
      if (question.get("type") !== "noul" || typeof described !== "string" || described.trim() === "") return;
      if (!criteria.has("false") && !criteria.has("no")) criteria.set("false", `not ${described}`);
    }),
    fails: ["texts.floats", "texts.noul-half", "texts.scalars", "texts.structures", "texts.trimmed"],
  },
  {
    name: "a null question of a ranking shown as a word",
    fault: edit((body) => {
      if (body.has("candidates") && body.get("question") === null) body.set("question", "null");
    }),
    fails: ["rank.null-question"],
  },
  {
    name: "structured instructions shown as JSON",
    fault: editQuestions((question) => {
      const value = question.get("instructions") ?? null;
      if (isNested(value)) question.set("instructions", `. ${writeTree(value)}`);
    }),
    fails: ["texts.noul-half", "texts.structures", "texts.trimmed"],
  },
  {
    name: "structured descriptions shown as JSON",
    fault: editQuestions((question) =>
      within(question.get("criteria"), (value) => (isNested(value) ? `. ${writeTree(value)}` : value)),
    ),
    fails: [
      "request.distinct-rendered",
      "texts.levels",
      "texts.noul-described",
      "texts.structures",
      "texts.trimmed",
    ],
  },
  {
    name: "a structured question of a ranking shown as JSON",
    fault: edit((body) => {
      const value = body.get("question") ?? null;
      if (isNested(value)) body.set("question", `. ${writeTree(value)}`);
    }),
    fails: ["texts.noul-half", "texts.structures"],
  },
  {
    name: "numbers as descriptions shown by their place",
    fault: editQuestions((question) => {
      const criteria = question.get("criteria");
      if (Array.isArray(criteria))
        for (const [index, level] of criteria.entries())
          if (typeof level === "number") criteria[index] = `level ${index}`;
    }),
    fails: ["texts.floats", "texts.levels", "texts.scalars"],
  },
  {
    name: "__proto__ left out of a state",
    fault: edit((body) => {
      const remove = (value: Tree | undefined) => {
        if (value instanceof Map && value.size > 1) value.delete("__proto__");
      };
      remove(body.get("state"));
      within(body.get("state"), (value) => {
        remove(value);
        return value;
      });
    }),
    fails: ["texts.structures"],
  },
  {
    name: "texts that differ in capitals taken as equal",
    fault: refuseAlike((text) => text.toLowerCase()),
    fails: ["rank.ties", "request.distinct-enough"],
  },
  {
    name: "texts that differ in their Unicode form taken as equal",
    fault: refuseAlike((text) => text.normalize("NFC")),
    fails: ["rank.ties", "request.distinct-enough"],
  },
  {
    name: "texts that differ in white space inside taken as equal",
    fault: refuseAlike((text) => text.replaceAll(/\s+/g, " ")),
    fails: ["rank.ties", "request.distinct-enough"],
  },
  {
    name: "texts that differ in a full stop taken as equal",
    fault: refuseAlike((text) => text.replace(/\.$/, "")),
    fails: ["scores.as-sent"],
  },
  {
    name: "a level that is a number differs from the same digits",
    fault: editQuestions((question) => {
      const levels = question.get("criteria");
      if (
        Array.isArray(levels) &&
        levels.some((one) => levels.some((other) => other !== one && String(other) === one))
      )
        question.set(
          "criteria",
          levels.map((level) => (typeof level === "number" ? `number ${level}` : level)),
        );
    }),
    fails: ["request.distinct-rendered"],
  },
];
