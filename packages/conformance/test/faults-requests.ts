import { REQUEST_LIMITS } from "../../../src/decisions/limits.ts";
import { MODEL_ID } from "./fast-engine.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { edit, editQuestions, lengthOf, pairsOf, questionsOf, refuseWhen, showing } from "./planting.ts";
import { inner, mapsIn, readTree, type Tree, type TreeMap } from "./tree.ts";

const { maxQuestions, maxCandidates, maxPairs } = REQUEST_LIMITS;

const keep = (map: TreeMap, most: number) => {
  for (const name of [...map.keys()].slice(most)) map.delete(name);
};
const rename = (map: TreeMap, from: string, to: string) => {
  const value = map.get(from);
  if (value === undefined) return;
  map.delete(from);
  map.set(to, value);
};
const asJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
};
/** Makes the texts of a list differ. */
const numbered = (list: Tree[]): Tree[] =>
  list.map((item, index) => (list.indexOf(item) === index ? item : `${String(item)} ${index}`));

/** Mistakes in what a request may be. */
export const REQUEST_FAULTS: readonly PlantedFault[] = [
  {
    name: "unknown members of a body ignored",
    fault: edit((body) => {
      const known = body.has("questions")
        ? ["state", "questions", "model"]
        : ["state", "context", "candidates", "answers", "question", "model"];
      for (const name of [...body.keys()]) if (!known.includes(name)) body.delete(name);
    }),
    fails: [
      "request.unknown-field",
      "request.unknown-question-field",
      "alias.rank-only",
      "media.limits-first",
    ],
  },
  {
    name: "unknown members of a question ignored",
    fault: editQuestions((question) => {
      for (const name of [...question.keys()])
        if (!["type", "instructions", "criteria"].includes(name)) question.delete(name);
    }),
    fails: ["request.unknown-question-field"],
  },
  {
    name: "questions past the limit dropped",
    fault: edit((body) => keep(inner(body, "questions"), maxQuestions)),
    fails: ["limits.questions"],
  },
  {
    name: "a question less at most",
    fault: { reply: refuseWhen((body) => inner(body, "questions").size > maxQuestions - 1) },
    fails: ["limits.questions"],
  },
  {
    name: "labels past the limit dropped",
    fault: editQuestions((question) => keep(inner(question, "criteria"), maxCandidates)),
    fails: ["limits.labels"],
  },
  {
    name: "levels past the limit dropped",
    fault: editQuestions((question) => {
      const criteria = question.get("criteria");
      if (Array.isArray(criteria)) question.set("criteria", criteria.slice(0, maxCandidates));
    }),
    fails: ["limits.levels"],
  },
  {
    name: "a candidate less at most",
    fault: { reply: refuseWhen((body) => lengthOf(body.get("candidates")) > maxCandidates - 1) },
    fails: ["limits.candidates"],
  },
  {
    name: "one candidate is enough",
    fault: edit((body) => {
      const given = body.get("candidates");
      if (Array.isArray(given) && given.length === 1) given.push("none of these");
      if (given instanceof Map && given.size === 1) given.set("none", "none of these");
    }),
    fails: ["limits.candidates"],
  },
  {
    name: "equal candidates numbered instead of refused",
    fault: edit((body) => {
      const given = body.get("candidates");
      if (Array.isArray(given)) body.set("candidates", numbered(given));
      if (given instanceof Map)
        for (const [index, [name, text]] of [...given].entries())
          if ([...given.values()].indexOf(text) !== index) given.set(name, `${String(text)} ${index}`);
    }),
    fails: ["request.distinct"],
  },
  {
    name: "a pair less at most",
    fault: { reply: refuseWhen((body) => pairsOf(body) > maxPairs - 1) },
    fails: ["limits.pairs"],
  },
  {
    name: "4 pairs too many accepted",
    fault: edit((body) => {
      if (pairsOf(body) <= maxPairs || pairsOf(body) > maxPairs + 4) return;
      for (const question of questionsOf(body)) keep(inner(question, "criteria"), 2);
    }),
    fails: ["limits.pairs", "limits.pairs-refused"],
  },
  {
    name: "blank criteria of a choice filled in",
    fault: editQuestions((question) => {
      if (question.get("type") !== "noul" && (question.get("criteria") ?? null) === null)
        question.set(
          "criteria",
          question.get("type") === "score"
            ? ["low", "high"]
            : new Map([
                ["a", "x"],
                ["b", "y"],
              ]),
        );
    }),
    fails: ["request.criteria-required"],
  },
  {
    name: "missing instructions taken as null",
    fault: editQuestions((question) => {
      if (!question.has("instructions")) question.set("instructions", null);
    }),
    fails: ["request.required"],
  },
  {
    name: "a missing state taken as blank",
    fault: edit((body) => {
      if (!body.has("state") && !body.has("context") && body.has("questions")) body.set("state", "");
    }),
    fails: ["request.required"],
  },
  {
    name: "a null state refused",
    fault: { reply: refuseWhen((body) => body.get("state") === null) },
    fails: ["request.null"],
  },
  {
    name: "states must be texts",
    fault: { reply: refuseWhen((body) => body.has("state") && typeof body.get("state") !== "string") },
    fails: [
      "request.state.any-json",
      "request.null",
      "json.valid",
      "json.extremes",
      "texts.scalars",
      "texts.floats",
      "texts.structures",
      "texts.state-holds-json",
      "texts.differ",
      "limits.nesting",
    ],
  },
  {
    name: "null instructions refused",
    fault: { reply: refuseWhen((body) => questionsOf(body).some((q) => q.get("instructions") === null)) },
    fails: ["request.null"],
  },
  {
    name: "an unknown type taken for a noul",
    fault: editQuestions((question) => {
      if (
        typeof question.get("type") === "string" &&
        !["choice", "noul", "score"].includes(String(question.get("type")))
      )
        question.set("type", "noul");
    }),
    fails: ["request.question-type"],
  },
  {
    name: "types in any capitals",
    fault: editQuestions((question) => {
      const type = question.get("type");
      if (typeof type === "string") question.set("type", type.toLowerCase());
    }),
    fails: ["request.question-type"],
  },
  {
    name: "a list of labels accepted for a choice",
    fault: editQuestions((question) => {
      const criteria = question.get("criteria");
      if (question.get("type") === "choice" && Array.isArray(criteria))
        question.set("criteria", new Map(criteria.map((label) => [String(label), null])));
    }),
    fails: ["request.criteria-shape"],
  },
  {
    name: "candidates turned into strings",
    fault: edit((body) => {
      const given = body.get("candidates");
      if (Array.isArray(given))
        body.set(
          "candidates",
          given.map((one) => (typeof one === "string" ? one : (JSON.stringify(one) ?? ""))),
        );
      if (given instanceof Map)
        for (const [name, one] of given) if (typeof one !== "string") given.set(name, `text ${String(one)}`);
    }),
    fails: ["request.candidates-shape"],
  },
  {
    name: "any model accepted",
    fault: edit((body) => void (typeof body.get("model") === "string" && body.delete("model"))),
    fails: ["model.unknown", "model.exact-name"],
  },
  {
    name: "any revision of the model accepted",
    fault: edit((body) => {
      const model = body.get("model");
      if (typeof model === "string" && model.startsWith(`${MODEL_ID.split("@")[0]}@`)) body.delete("model");
    }),
    fails: ["model.unknown", "model.exact-name"],
  },
  {
    name: "model: null taken as missing",
    fault: edit((body) => void (body.get("model") === null && body.delete("model"))),
    fails: ["model.null"],
  },
  {
    name: "names of the model in any capitals",
    fault: edit((body) => {
      const model = body.get("model");
      if (typeof model === "string" && model.toLowerCase() === MODEL_ID.toLowerCase())
        body.set("model", MODEL_ID);
    }),
    fails: ["model.exact-name"],
  },
  {
    name: "the bare name of the model unknown",
    fault: edit((body) => void (body.get("model") === "Fast-1M" && body.set("model", "other"))),
    fails: ["model.bare-name", "model.listed-aliases"],
  },
  {
    name: "the short alias unknown",
    fault: edit((body) => void (body.get("model") === "fast" && body.set("model", "other"))),
    fails: ["model.short-alias", "model.listed-aliases"],
  },
  {
    name: "the full id unknown to rankings",
    fault: edit(
      (body) => void (body.has("candidates") && body.get("model") === MODEL_ID && body.set("model", "other")),
    ),
    fails: ["model.full-id"],
  },
  {
    name: "context not understood",
    fault: edit((body) => rename(body, "context", "unknown")),
    fails: ["alias.context", "alias.answers", "alias.rank-null", "errors.type"],
  },
  {
    name: "answers not understood",
    fault: edit((body) => rename(body, "answers", "unknown")),
    fails: ["alias.answers", "alias.rank-null"],
  },
  {
    name: "both state and context accepted",
    fault: edit((body) => void (body.has("state") && body.has("candidates") && body.delete("context"))),
    fails: ["alias.rank-conflict"],
  },
  {
    name: "null aliases refused",
    fault: { reply: refuseWhen((body) => body.get("context") === null || body.get("answers") === null) },
    fails: ["alias.rank-null"],
  },
  {
    name: "no and yes mixed up",
    fault: editQuestions((question) => {
      const criteria = inner(question, "criteria");
      const [no, yes] = [criteria.get("no"), criteria.get("yes")];
      if (question.get("type") === "noul" && no != null && yes != null) {
        criteria.set("no", yes);
        criteria.set("yes", no);
      }
    }),
    fails: ["alias.no-yes"],
  },
  {
    name: "yes not understood",
    fault: editQuestions((question) => rename(inner(question, "criteria"), "yes", "ja")),
    fails: ["systemone.answers.outcomes", "alias.no-yes", "alias.noul-null", "texts.noul-half"],
  },
  {
    name: "true counts more than yes",
    fault: editQuestions((question) => {
      const criteria = inner(question, "criteria");
      if (question.get("type") === "noul" && criteria.has("true")) criteria.delete("yes");
    }),
    fails: ["alias.noul-conflict"],
  },
  {
    name: "an unknown outcome ignored",
    fault: editQuestions((question) => {
      if (question.get("type") !== "noul") return;
      const criteria = inner(question, "criteria");
      for (const name of [...criteria.keys()])
        if (!["false", "true", "no", "yes"].includes(name)) criteria.delete(name);
    }),
    fails: ["request.unknown-question-field"],
  },
  {
    name: "question: null refused",
    fault: { reply: refuseWhen((body) => body.get("question") === null) },
    fails: ["request.null", "alias.rank-null"],
  },
  {
    name: "the last of two equal names counts",
    fault: { request: asJson },
    fails: [
      "order.answers",
      "order.probabilities",
      "order.scores",
      "json.numbers",
      "json.duplicates",
      "texts.scalars",
      "texts.floats",
      "texts.structures",
      "texts.state-holds-json",
      "errors.type",
    ],
  },
  {
    name: "a byte order mark skipped",
    fault: { request: (text) => text.replace(/^\ufeff/, "") },
    fails: ["json.unicode"],
  },
  {
    name: "bad bytes replaced",
    fault: { request: (text) => text.replaceAll("\ufffd", "?") },
    fails: ["json.unicode"],
  },
  {
    name: "lone surrogates replaced",
    fault: {
      request: (text) =>
        text.replaceAll(/\\ud83d\\ude00|\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, (found) =>
          found.length > 6 ? found : "?",
        ),
    },
    fails: ["json.unicode"],
  },
  {
    name: "NaN and Infinity read, as Python's json does",
    fault: { request: (text) => text.replace(/-?\b(NaN|Infinity)\b/, "0") },
    fails: ["json.numbers"],
  },
  {
    name: "1e400 read as infinite",
    fault: { request: (text) => text.replace(/-?1e400/, "1e308") },
    fails: ["json.numbers"],
  },
  {
    name: "commas at the end allowed",
    fault: { request: (text) => text.replace(/,([}\]])/g, "$1") },
    fails: ["json.invalid", "json.grammar"],
  },
  {
    name: "single quotes allowed",
    fault: { request: (text) => text.replace("'s'", '"s"') },
    fails: ["json.invalid"],
  },
  {
    name: "comments allowed",
    fault: { request: (text) => text.replace(/\/\*.*\*\/|\/\/ .*$/, "") },
    fails: ["json.grammar"],
  },
  {
    name: "text behind the object ignored",
    fault: { request: (text) => text.replace(/} more$/, "}") },
    fails: ["json.invalid"],
  },
  {
    name: "an empty body taken as {}",
    fault: {
      request: (text) => (text.trim() === "" ? '{"state":"s","candidates":["a","b"],"questions":{}}' : text),
      reply: (reply, call) =>
        Buffer.from(call.body).toString().trim() === "" && call.operationId === "rank"
          ? { ...reply, status: 400 }
          : reply,
    },
    fails: ["json.empty", "errors.issues"],
  },
  {
    name: "a string that holds JSON parsed once more",
    fault: {
      request: (text) => {
        try {
          const value: unknown = JSON.parse(text);
          return typeof value === "string" ? value : text;
        } catch {
          return text;
        }
      },
    },
    fails: ["json.no-object"],
  },
  {
    name: "integers above 2^53 rounded",
    fault: { request: (text) => (/[^.\d]\d{17,99}[^.\d]/.test(text) ? asJson(text) : text) },
    fails: ["texts.scalars"],
  },
  {
    name: "floats without their point",
    fault: { request: (text) => text.replaceAll(/([[:,])(-?\d+)\.0(?=[,}\]])/g, "$1$2") },
    fails: ["json.numbers", "texts.floats"],
  },
  {
    name: "members of a state in sorted order",
    fault: edit((body) => {
      for (const map of mapsIn(body.get("state") ?? null)) {
        const members = [...map].sort(([a], [b]) => (a < b ? -1 : 1));
        map.clear();
        for (const [name, value] of members) map.set(name, value);
      }
    }),
    fails: ["texts.structures", "texts.state-holds-json", "texts.differ"],
  },
  {
    name: "a state that holds JSON left as it is",
    fault: edit((body) => {
      const state = body.get("state");
      if (typeof state === "string" && /^\s*[[{]/.test(state)) body.set("state", `. ${state}`);
    }),
    fails: ["request.blank", "texts.state-holds-json"],
  },
  {
    name: "questions that hold JSON are rendered too",
    fault: edit((body) => {
      const question = body.get("question");
      if (typeof question === "string" && question.startsWith("{")) body.set("question", readTree(question));
    }),
    fails: ["texts.only-state-holds-json"],
  },
  {
    name: "lists with stars in place of dashes",
    fault: edit((body) => {
      const state = body.get("state");
      if (Array.isArray(state) && state.every((item) => typeof item === "string"))
        body.set("state", state.map((item) => `* ${item}`).join("\n"));
    }),
    fails: ["texts.structures"],
  },
  {
    name: "labels shown in another way",
    fault: showing(({ loc, text }) =>
      loc[1] === "questions" ? text.replace(/^(\w+): (?=Wants)/, "Label $1. ") : text,
    ),
    fails: ["texts.labels"],
  },
  {
    name: "other default words for a noul",
    fault: showing(({ loc, text }) =>
      loc[1] === "questions"
        ? text.replace(/^(false|true): (No|Yes)\. This is (false|true): /, "$1: ")
        : text,
    ),
    fails: ["texts.noul-default", "texts.noul-half"],
  },
  {
    name: "the label of a ranking's candidate shown",
    fault: showing(({ loc, label, text }) =>
      /^\d+$/.test(label) || loc[1] !== "candidates" ? text : `${label}: ${text}`,
    ),
    fails: ["texts.rank-labels-hidden"],
  },
  {
    name: "long states cut off",
    fault: {
      texts: (request) => ({
        ...request,
        state: { ...request.state, text: request.state.text.split(" ").slice(0, 256).join(" ") },
      }),
    },
    fails: [
      "limits.tokens.state",
      "limits.tokens.instructions",
      "limits.tokens.exact",
      "limits.tokens.never-cut",
    ],
  },
  {
    name: "long candidates cut off",
    fault: showing(({ text }) => text.split(" ").slice(0, 200).join(" ")),
    fails: [
      "limits.tokens.candidate",
      "limits.tokens.level",
      "limits.tokens.description",
      "limits.tokens.exact",
      "limits.tokens.never-cut",
    ],
  },
];
