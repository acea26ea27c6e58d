import { Flags } from "@oclif/core";
import { invalidOption } from "../options/resolve.ts";
import { optionFlags } from "./option-flags.ts";

/** Flags that choose what answers: a model on this machine, or a running service. */
export const TARGET_FLAGS = {
  url: Flags.string({
    helpValue: "<url>",
    description:
      "ask a running service instead of loading the model; its key is in DECISION_API_KEY [env: DECISION_URL]",
  }),
  ...optionFlags(["model", "modelPath", "backend", "device", "precision"]),
};

/** Flags of commands that read questions and rows. */
export const ROWS_FLAGS = {
  questions: Flags.string({
    required: true,
    helpValue: "<file.json>",
    description: "file with questions by name, as in a request",
  }),
  "input-format": Flags.string({
    options: ["jsonl", "csv"],
    helpValue: "jsonl|csv",
    description: "format of the input [default: by its name, else jsonl]",
  }),
  "state-field": Flags.string({
    default: "state",
    helpValue: "<name>",
    description: "member or column with the state",
  }),
};

/** Flags of commands whose rows have labels. */
export const LABELLED_ROWS_FLAGS = {
  ...ROWS_FLAGS,
  input: Flags.string({
    required: true,
    helpValue: "<file>",
    description: "labelled rows as .jsonl or .csv; - reads standard input",
  }),
  "whole-row": Flags.boolean({ description: "take each whole row without its labels as the state" }),
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
    description: "the material that the question is about; - reads standard input",
    exactlyOne: ["state", "state-file"],
  }),
  "state-file": Flags.string({
    helpValue: "<file>",
    description: "file with the material; one that holds a JSON object or array is read as such",
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
  if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given;
  throw invalidOption(
    `${source} takes an address such as http://127.0.0.1:8700, not ${JSON.stringify(given)}.`,
  );
}
