import { type Row, type StatePlace, stateOf } from "../batch/row.ts";
import { ServiceError } from "../errors.ts";
import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "../json/value.ts";

/** The labels of a question: those of a choice, `false` and `true`, or level numbers from `0`. */
export function labelsOf(question: JsonValue | undefined): readonly string[] {
  const criteria = isJsonObject(question) ? question.get("criteria") : undefined;
  const type = isJsonObject(question) ? question.get("type") : undefined;
  if (type === "choice" && isJsonObject(criteria)) return [...criteria.keys()];
  if (type === "score" && isJsonArray(criteria)) return criteria.map((_, level) => String(level));
  return ["false", "true"];
}

/**
 * The labels of a row by question name, from its object `labels` or otherwise from the row itself.
 *
 * @param row a row whose state is the whole row
 * @throws ServiceError INVALID_OPTION for a label that its question does not have
 */
export function rowLabels(row: Row, questions: JsonObject): ReadonlyMap<string, string> {
  const whole = row.state;
  if (whole instanceof ServiceError || !isJsonObject(whole)) return new Map();
  const own = whole.get("labels");
  const given = isJsonObject(own) ? own : whole;
  return new Map(
    [...questions].flatMap(([name, question]) => {
      const label = labelOf(given.get(name), name, question, row.number);
      return label === undefined ? [] : [[name, label] as const];
    }),
  );
}

/**
 * The row with its actual state.
 *
 * @param row a row whose state is the whole row
 * @param names names of questions. If the state is the whole row, their labels are removed, since the model must not
 * read them
 */
export function askedRow(row: Row, place: StatePlace, names: readonly string[]): Row {
  const whole = row.state;
  if (whole instanceof ServiceError) return row;
  if (place !== "row" || !isJsonObject(whole)) return { ...row, state: stateOf(whole, place) };
  const kept = [...whole].filter(([name]) => name !== "labels" && !names.includes(name));
  return { ...row, state: new Map(kept) };
}

function labelOf(
  value: JsonValue | undefined,
  name: string,
  question: JsonValue,
  row: number,
): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const labels = labelsOf(question);
  const text = value instanceof JsonNumber ? value.text : String(value);
  const isNoul = isJsonObject(question) && question.get("type") === "noul";
  const meant = isNoul ? (YES_NO.get(text.toLowerCase()) ?? text) : text;
  // programs write columns of whole numbers with gaps as 2.0
  const found = [meant, wholeNumber(meant)].find((one) => labels.includes(one));
  if (found !== undefined) return found;
  throw new ServiceError(
    "INVALID_OPTION",
    `--input, row ${row}: the label of ${JSON.stringify(name)}: expected one of ${labels.map((one) => JSON.stringify(one)).join(", ")}, got ${JSON.stringify(text.slice(0, 60))}.`,
  );
}

/** A whole number without its fraction or exponent; any other text as it is. */
function wholeNumber(text: string): string {
  const value = /^[+-]?\d+(\.\d*)?(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? String(value) : text;
}

/** Notations of the outcomes of a noul in tables. */
const YES_NO = new Map([
  ["true", "true"],
  ["yes", "true"],
  ["false", "false"],
  ["no", "false"],
]);
