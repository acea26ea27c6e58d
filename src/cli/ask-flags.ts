import { Flags } from "@oclif/core";
import { invalidOption } from "../errors.ts";
import { readApiKey } from "../options/exposure.ts";
import type { ServiceOptions } from "../options/table.ts";
import { serviceAddress } from "../service-address.ts";
import type { Target } from "./actions/ask.ts";
import type { Format } from "./actions/rows/batch.ts";
import { optionFlags } from "./option-flags.ts";

/** Flags that choose what answers: a model on this machine, or a running service. */
export const TARGET_FLAGS = {
  url: Flags.string({
    helpValue: "<url>",
    description:
      "use a running service instead of loading the model; DECISION_API_KEY has its key [env: DECISION_URL]",
  }),
  ...optionFlags(["model", "modelPath", "backend", "device", "precision"]),
};

/** Flags of commands that read questions and rows. */
export const ROWS_FLAGS = {
  questions: Flags.string({
    required: true,
    helpValue: "<file.json>",
    description: "JSON file with named questions, as in a request",
  }),
  "input-format": Flags.string({
    options: ["jsonl", "csv"],
    helpValue: "jsonl|csv",
    description: "format of the input [default: by the file name, else jsonl]",
  }),
  delimiter: Flags.string({
    helpValue: "<character>",
    description:
      'character between the columns of CSV, for example ";" or tab [default: tab for .tsv, that of a first line "sep=;", else a comma]',
  }),
  "state-field": Flags.string({
    default: "state",
    helpValue: "<name>",
    description: "member or column that has the state",
  }),
};

/** Flags of commands whose rows have labels. */
export const LABELLED_ROWS_FLAGS = {
  ...ROWS_FLAGS,
  input: Flags.string({
    required: true,
    helpValue: "<file>",
    description: "labelled rows, .jsonl or .csv; - reads standard input",
  }),
  "whole-row": Flags.boolean({ description: "use each whole row, without its labels, as the state" }),
};

/** Settings of a flag for a candidate of a ranking. */
export const CANDIDATE = {
  multiple: true,
  multipleNonGreedy: true,
  helpValue: "<text>",
} as const;

/** Flags shared by `decide`, `rank` and `explain`. */
export const ASK_FLAGS = {
  state: Flags.string({
    helpValue: "<text>",
    description: "text or JSON that the question is about; - reads standard input",
    exactlyOne: ["state", "state-file"],
  }),
  "state-file": Flags.string({
    helpValue: "<file>",
    description: "file with the state, as text or as a JSON object or array",
  }),
  json: Flags.boolean({ description: "print the service's JSON answer" }),
  ...TARGET_FLAGS,
  ...optionFlags(["tuning"]),
};

/** Flags for a model that the command itself loads. */
const OWN_MODEL = [
  "model",
  "model-path",
  "backend",
  "device",
  "tuning",
  "precision",
  "alias",
  "strict",
  "cache-size",
  "deadline-ms",
] as const;

/**
 * URL of the service to ask: the flag, or DECISION_URL unless a flag is for a model that the command itself loads.
 *
 * @param prefix of the flags in messages
 * @throws ServiceError INVALID_OPTION for an invalid URL, or a flag that has no effect on a service
 */
export function serviceUrl(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  prefix = "--",
): string | undefined {
  const { url } = flags;
  const own = OWN_MODEL.find((name) => flags[name] !== undefined);
  if (typeof url !== "string")
    return own === undefined && env.DECISION_URL ? checkedUrl("DECISION_URL", env.DECISION_URL) : undefined;
  if (own === undefined) return checkedUrl(`${prefix}url`, url);
  throw invalidOption(
    `${prefix}${own} has no effect on a running service: start the service with it, or omit ${prefix}url.`,
  );
}

/** @throws ServiceError INVALID_OPTION */
function checkedUrl(source: string, given: string): string {
  serviceAddress(given, source);
  return given;
}

/**
 * The target of requests, from flags and environment.
 *
 * @param options read only if no service is the target, since variables for serving may be invalid here
 * @param prefix  of the flags in messages
 * @throws ServiceError INVALID_OPTION
 */
export async function targetOf(
  flags: Record<string, unknown>,
  options: () => Promise<ServiceOptions>,
  prefix?: string,
): Promise<Target> {
  const url = serviceUrl(flags, process.env, prefix);
  return url === undefined ? { options: await options() } : { url, apiKey: readApiKey(process.env) };
}

/**
 * The format of a file of rows: as given, otherwise by the file's extension. @throws ServiceError INVALID_OPTION for an
 * unknown extension
 */
export function formatOf(flag: string, file: string, given: string | undefined, standard: Format): Format {
  if (given === "jsonl" || given === "csv") return given;
  if (file === "-") return standard;
  if (/\.(jsonl|ndjson)$/i.test(file)) return "jsonl";
  if (/\.[ct]sv$/i.test(file)) return "csv";
  throw invalidOption(
    `${flag}: expected a name that ends in .jsonl, .csv or .tsv, got another; otherwise add ${flag}-format.`,
  );
}

/**
 * The character between the columns of CSV: as given, or a tab for .tsv; undefined: as the input says.
 *
 * @throws ServiceError INVALID_OPTION
 */
export function delimiterOf(given: string | undefined, file: string): string | undefined {
  if (given === undefined) return /\.tsv$/i.test(file) ? "\t" : undefined;
  const character = given === "tab" || given === "\\t" ? "\t" : given;
  if (/^[^"\r\n]$/u.test(character)) return character;
  throw invalidOption(
    `--delimiter: expected one character other than a quote, or tab, got ${JSON.stringify(given.slice(0, 60))}.`,
  );
}
