import { stringify } from "csv-stringify/sync";
import { ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import type { Outcome } from "./outcome.ts";

/** The format of the output. It contains no times, so that equal inputs give equal bytes. */
export interface OutputFormat {
  /** The header line with its end; empty if the format has none. */
  readonly head: string;
  /** Of CSV. */
  readonly delimiter?: string;
  /** A row with its line end. */
  rowText(outcome: Outcome): string;
}

/** One JSON object per line: `row`, `id` if the input has it, and `answers` with `model`, or `error`. */
export const JSONL: OutputFormat = {
  head: "",
  rowText({ row: { number, id }, answer }) {
    const about = writeJson({ row: number, id }).slice(1, -1);
    if (typeof answer === "string") return `{${about},${answersOf(answer)}}\n`;
    const { code, message, issues } = answer;
    const error = { code, message, issues: issues.length > 0 ? issues : undefined };
    return `{${about},"error":${writeJson(error)}}\n`;
  },
};

/** Cuts `"answers":{...},"model":"..."` out of the body of an answer, which keeps order and digits. */
function answersOf(body: string): string {
  // the member after the answers: JSON strings cannot contain unescaped quotes, and a question of this name comes
  // earlier
  const end = body.lastIndexOf(',"usage":{');
  return `${body.slice(1, end)},"model":${writeJson(JSON.parse(body).model)}`;
}

/** What the CSV output takes over from the input. */
export interface CsvTraits {
  /** Of a CSV input. */
  readonly header?: readonly string[] | undefined;
  /** Whether it begins with a byte order mark, by which spreadsheets recognize UTF-8. */
  readonly hasMark?: boolean;
  readonly delimiter?: string | undefined;
}

/**
 * CSV: the columns of a CSV input, or `row` and `id`; then `answer.<question>` and `confidence.<question>` for each
 * question; then `error`.
 *
 * @throws ServiceError INVALID_OPTION if the input has such a column
 */
export function csvFormat(
  { header, hasMark, delimiter = "," }: CsvTraits,
  questions: JsonObject,
): OutputFormat {
  const line = (cells: readonly string[]) => stringify([[...cells]], { quoted_match: /[\r\n]/, delimiter });
  const names = [...questions.keys()];
  const added = [...names.flatMap((name) => [`answer.${name}`, `confidence.${name}`]), "error"];
  const taken = header?.find((name) => added.includes(name));
  if (taken !== undefined) {
    const message = `--input has a column ${JSON.stringify(taken)}, which the output also has; rename it or write to a .jsonl file.`;
    throw new ServiceError("INVALID_OPTION", message);
  }
  return {
    head: (hasMark ? "\ufeff" : "") + line([...(header ?? ["row", "id"]), ...added]),
    delimiter,
    rowText({ row: { number, id, cells }, answer }) {
      const about = cells ?? [String(number), id === undefined ? "" : cellOf(id)];
      if (typeof answer !== "string")
        return line([...about, ...names.flatMap(() => ["", ""]), errorCell(answer)]);
      const { answers } = JSON.parse(answer);
      const values = names.flatMap((name) => [decided(answers[name]), String(answers[name].confidence)]);
      return line([...about, ...values, ""]);
    },
  };
}

interface ReadAnswer {
  readonly choice?: string;
  readonly noul?: number;
  readonly score?: number;
}

const decided = ({ choice, noul, score }: ReadAnswer) => choice ?? String(noul ?? score);
const cellOf = (value: unknown) => (typeof value === "string" ? value : writeJson(value));

function errorCell({ code, message, issues }: ServiceError): string {
  const reasons = issues.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`.replace(/^: /, ""));
  return `${code}: ${reasons.length > 0 ? reasons.join(" ") : message}`;
}
