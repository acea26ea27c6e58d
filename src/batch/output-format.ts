import { stringify } from "csv-stringify/sync";
import { ServiceError } from "../errors.ts";
import type { JsonObject } from "../json/value.ts";
import { writeJson } from "../json/write.ts";
import type { Outcome } from "./outcome.ts";

/** How rows are written. Equal inputs give equal bytes: times are left out. */
export interface OutputFormat {
  /** The first line of the file, if there is one. */
  readonly head: string;
  /** One whole row, with its end. */
  rowText(outcome: Outcome): string;
}

/** One JSON object a line: `row`, `id` where there is one, and `answers` with `model`, or `error`. */
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

/** `"answers":{...},"model":"..."` out of the body of an answer, with its order and digits. */
function answersOf(body: string): string {
  // the member after the answers; no text in JSON holds quotes like these, and a question of that name comes before
  const end = body.lastIndexOf(',"usage":{');
  return `${body.slice(1, end)},"model":${writeJson(JSON.parse(body).model)}`;
}

/**
 * The columns of a CSV input, or `row` and `id`; then `answer.<question>` and `confidence.<question>` of each question, then `error`.
 *
 * @throws ServiceError INVALID_OPTION if the input has such a column
 */
export function csvFormat(header: readonly string[] | undefined, questions: JsonObject): OutputFormat {
  const names = [...questions.keys()];
  const added = [...names.flatMap((name) => [`answer.${name}`, `confidence.${name}`]), "error"];
  const taken = header?.find((name) => added.includes(name));
  if (taken !== undefined) {
    const message = `--input has a column ${JSON.stringify(taken)}, which the output adds; rename it or write to a .jsonl file.`;
    throw new ServiceError("INVALID_OPTION", message);
  }
  return {
    head: line([...(header ?? ["row", "id"]), ...added]),
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

const line = (cells: readonly string[]) => stringify([[...cells]], { quoted_match: /[\r\n]/ });
