import { Flags } from "@oclif/core";
import { invalidOption } from "../errors.ts";
import { writeJson } from "../json/write.ts";
import {
  type AskedOperation,
  checkRequest,
  connectDecider,
  createDecider,
  type Decider,
} from "../library/index.ts";
import { readApiKey, readRemoteToken } from "../options/exposure.ts";
import type { ServiceOptions } from "../options/table.ts";
import { serviceAddress } from "../service-address.ts";
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

/** What answers a request: a running service, or a model that this program loads. */
export type Target = ServiceTarget | { readonly options: ServiceOptions };

interface ServiceTarget {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** Creates a decider for the target. @throws ServiceError INVALID_OPTION | INVALID_MODEL | BACKEND_FAILED */
export async function openTarget(target: Target): Promise<Decider> {
  if ("url" in target) return connectDecider(target.url, target);
  const { host, port, ...options } = target.options;
  return createDecider({ ...options, remoteToken: readRemoteToken(process.env) });
}

/**
 * Checks a request before a model is loaded. If a service is the target, only the form of its URL is checked.
 *
 * @throws ServiceError INVALID_REQUEST | INVALID_OPTION | INVALID_MODEL
 */
export async function checkFirst(operation: AskedOperation, body: string, target: Target): Promise<void> {
  if ("options" in target) return checkRequest(operation, body, target.options);
  connectDecider(target.url); // does not connect before the first request
}

/**
 * Sends one request.
 *
 * @param body the request's body; its Maps are written in their order
 * @returns the JSON text of the answer, exactly as the service writes it
 * @throws ServiceError INVALID_REQUEST | BACKEND_FAILED | INVALID_MODEL | UNREACHABLE
 */
export async function ask(operation: AskedOperation, body: unknown, target: Target): Promise<string> {
  const text = writeJson(body);
  await checkFirst(operation, text, target);
  const decider = await openTarget(target);
  try {
    return await decider.ask(operation, text);
  } finally {
    await decider.close();
  }
}
