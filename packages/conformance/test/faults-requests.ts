import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import { MODEL_ID } from "./fast-engine.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { edit, editQuestions, lengthOf, pairsOf, questionsOf, refusing, showing } from "./planting.ts";
import { inner, type Tree, type TreeMap } from "./tree.ts";

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
export const REQUEST_FAULTS: readonly PlantedFault[] = faults({
  "unknown members of a body ignored: request.unknown-field, alias.rank-only, media.limits-first": edit(
    (body) => {
      const known = body.has("questions")
        ? ["state", "questions", "model"]
        : ["state", "context", "candidates", "answers", "question", "model"];
      for (const name of [...body.keys()]) if (!known.includes(name)) body.delete(name);
    },
  ),
  "unknown members of a question ignored: request.unknown-question-field": editQuestions((question) => {
    for (const name of [...question.keys()])
      if (!["type", "instructions", "criteria"].includes(name)) question.delete(name);
  }),
  "a question less at most: limits.questions": refusing(
    (body) => inner(body, "questions").size > maxQuestions - 1,
  ),
  "labels past the limit dropped: limits.labels": editQuestions((question) =>
    keep(inner(question, "criteria"), maxCandidates),
  ),
  "levels past the limit dropped: limits.levels": editQuestions((question) => {
    const criteria = question.get("criteria");
    if (Array.isArray(criteria)) question.set("criteria", criteria.slice(0, maxCandidates));
  }),
  "a candidate less at most: limits.candidates": refusing(
    (body) => lengthOf(body.get("candidates")) > maxCandidates - 1,
  ),
  "equal candidates numbered instead of refused: request.distinct": edit((body) => {
    const given = body.get("candidates");
    if (Array.isArray(given)) body.set("candidates", numbered(given));
    if (given instanceof Map)
      for (const [index, [name, text]] of [...given].entries())
        if ([...given.values()].indexOf(text) !== index) given.set(name, `${String(text)} ${index}`);
  }),
  "a pair less at most: limits.pairs": refusing((body) => pairsOf(body) > maxPairs - 1),
  "4 pairs too many accepted: limits.pairs-refused": edit((body) => {
    if (pairsOf(body) <= maxPairs || pairsOf(body) > maxPairs + 4) return;
    for (const question of questionsOf(body)) keep(inner(question, "criteria"), 2);
  }),
  "blank criteria of a choice filled in: request.criteria-required": editQuestions((question) => {
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
  "missing instructions taken as null: request.required": editQuestions((question) => {
    if (!question.has("instructions")) question.set("instructions", null);
  }),
  "a missing state taken as blank: request.required": edit((body) => {
    if (!body.has("state") && !body.has("context") && body.has("questions")) body.set("state", "");
  }),
  "a null state refused: request.null": refusing((body) => body.get("state") === null),
  "states must be texts: request.state.any-json, json.valid, texts.differ, limits.nesting": refusing(
    (body) => body.has("state") && typeof body.get("state") !== "string",
  ),
  "types in any capitals: request.question-type": editQuestions((question) => {
    const type = question.get("type");
    if (typeof type === "string") question.set("type", type.toLowerCase());
  }),
  "a list of labels accepted for a choice: request.criteria-shape": editQuestions((question) => {
    const criteria = question.get("criteria");
    if (question.get("type") === "choice" && Array.isArray(criteria))
      question.set("criteria", new Map(criteria.map((label) => [String(label), null])));
  }),
  "candidates turned into strings: request.candidates-shape": edit((body) => {
    const given = body.get("candidates");
    if (Array.isArray(given))
      body.set(
        "candidates",
        given.map((one) => (typeof one === "string" ? one : (JSON.stringify(one) ?? ""))),
      );
    if (given instanceof Map)
      for (const [name, one] of given) if (typeof one !== "string") given.set(name, `text ${String(one)}`);
  }),
  "any model accepted: model.unknown": edit(
    (body) => void (typeof body.get("model") === "string" && body.delete("model")),
  ),
  "any revision of the model accepted: model.unknown": edit((body) => {
    const model = body.get("model");
    if (typeof model === "string" && model.startsWith(`${MODEL_ID.split("@")[0]}@`)) body.delete("model");
  }),
  "model: null taken as missing: model.null": edit(
    (body) => void (body.get("model") === null && body.delete("model")),
  ),
  "names of the model in any capitals: model.exact-name": edit((body) => {
    const model = body.get("model");
    if (typeof model === "string" && model.toLowerCase() === MODEL_ID.toLowerCase())
      body.set("model", MODEL_ID);
  }),
  "the bare name of the model unknown: model.bare-name": edit(
    (body) => void (body.get("model") === "Fast-1M" && body.set("model", "other")),
  ),
  "the short alias unknown: model.short-alias": edit(
    (body) => void (body.get("model") === "fast" && body.set("model", "other")),
  ),
  "context not understood: alias.context, errors.type": edit((body) => rename(body, "context", "unknown")),
  "answers not understood: alias.answers": edit((body) => rename(body, "answers", "unknown")),
  "both state and context accepted: alias.rank-conflict": edit(
    (body) => void (body.has("state") && body.has("candidates") && body.delete("context")),
  ),
  "null aliases refused: alias.rank-null": refusing(
    (body) => body.get("context") === null || body.get("answers") === null,
  ),
  "yes not understood: systemone.answers.outcomes, alias.no-yes, texts.noul-half": editQuestions((question) =>
    rename(inner(question, "criteria"), "yes", "ja"),
  ),
  "true counts more than yes: alias.noul-conflict": editQuestions((question) => {
    const criteria = inner(question, "criteria");
    if (question.get("type") === "noul" && criteria.has("true")) criteria.delete("yes");
  }),
  "question: null refused: request.null, alias.rank-null": refusing((body) => body.get("question") === null),
  "the last of two equal names counts: order.probabilities, json.duplicates, texts.state-holds-json, errors.type":
    { request: asJson },
  "a byte order mark skipped: json.unicode": on.request((text) => text.replace(/^\ufeff/, "")),
  "bad bytes replaced: json.unicode": on.request((text) => text.replaceAll("\ufffd", "?")),
  "1e400 read as infinite: json.numbers": on.request((text) => text.replace(/-?1e400/, "1e308")),
  "commas at the end allowed: json.grammar": on.request((text) => text.replace(/,([}\]])/g, "$1")),
  "comments allowed: json.grammar": on.request((text) => text.replace(/\/\*.*\*\/|\/\/ .*$/, "")),
  "single quotes allowed: json.invalid": on.request((text) => text.replace("'s'", '"s"')),
  "text behind the object ignored: json.invalid": on.request((text) => text.replace(/} more$/, "}")),
  "integers above 2^53 rounded: texts.scalars": on.request((text) =>
    /[^.\d]\d{17,99}[^.\d]/.test(text) ? asJson(text) : text,
  ),
  "floats without their point: json.numbers, texts.floats": on.request((text) =>
    text.replaceAll(/([[:,])(-?\d+)\.0(?=[,}\]])/g, "$1$2"),
  ),
  "a state that holds JSON left as it is: request.blank, texts.state-holds-json": edit((body) => {
    const state = body.get("state");
    if (typeof state === "string" && /^\s*[[{]/.test(state)) body.set("state", `. ${state}`);
  }),
  "other default words for a noul: texts.noul-default": showing(({ loc, text }) =>
    loc[1] === "questions" ? text.replace(/^(false|true): (No|Yes)\. This is (false|true): /, "$1: ") : text,
  ),
  "the label of a ranking's candidate shown: texts.rank-labels-hidden": showing(({ loc, label, text }) =>
    /^\d+$/.test(label) || loc[1] !== "candidates" ? text : `${label}: ${text}`,
  ),
  "long states cut off: limits.tokens.state": on.texts((request) => ({
    ...request,
    state: { ...request.state, text: request.state.text.split(" ").slice(0, 256).join(" ") },
  })),
  "long candidates cut off: limits.tokens.level, limits.tokens.description": showing(({ text }) =>
    text.split(" ").slice(0, 200).join(" "),
  ),
});
