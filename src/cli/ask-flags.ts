import { Flags } from "@oclif/core";
import { invalidOption } from "../options/resolve.ts";
import { optionFlags } from "./option-flags.ts";

/** Flags that say who answers: a model of this machine, or a running service. */
export const TARGET_FLAGS = {
  url: Flags.string({
    helpValue: "<url>",
    description:
      "ask a running service instead of loading the model; its key is in DECISION_API_KEY [env: DECISION_URL]",
    exclusive: ["model", "model-path", "backend", "device"],
  }),
  ...optionFlags(["model", "modelPath", "backend", "device", "precision"]),
};

/** Flags of commands that read questions and rows with the right answers. */
export const LABELLED_ROWS_FLAGS = {
  questions: Flags.string({
    required: true,
    helpValue: "<file.json>",
    description: "file with questions by name, as in a request",
  }),
  input: Flags.string({
    required: true,
    helpValue: "<file>",
    description: "labelled rows as .jsonl or .csv; - reads standard input",
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
  "whole-row": Flags.boolean({ description: "take each whole row without its labels as the state" }),
};

/** Flags shared by `decide` and `rank`. */
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
};

interface TargetFlags {
  readonly url?: string | undefined;
  readonly model?: string | undefined;
  readonly "model-path"?: string | undefined;
  readonly backend?: string | undefined;
  readonly device?: string | undefined;
  readonly tuning?: readonly string[] | undefined;
}

/**
 * Address of the service to ask: the flag, or DECISION_URL unless a flag names a model, a backend, a device or a tuning.
 *
 * @throws ServiceError INVALID_OPTION for an empty address, or a tuning beside the flag
 */
export function serviceUrl(
  flags: TargetFlags,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (flags.url === "") throw invalidOption("--url takes an address such as http://127.0.0.1:8700.");
  if (flags.url !== undefined && flags.tuning !== undefined)
    throw invalidOption(
      "--tuning cannot be sent to a service: start the service with it, or leave --url out.",
    );
  if (flags.url !== undefined) return flags.url;
  const own = [flags.model, flags["model-path"], flags.backend, flags.device, flags.tuning];
  if (own.some((flag) => flag !== undefined)) return undefined;
  return env.DECISION_URL || undefined;
}
