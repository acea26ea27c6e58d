import { writeJson } from "../../json/write.ts";
import {
  type AskedOperation,
  checkRequest,
  connectDecider,
  createDecider,
  type Decider,
} from "../../library/index.ts";
import { readRemoteToken } from "../../options/exposure.ts";
import type { ServiceOptions } from "../../options/table.ts";

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
