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

/** Who answers: a running service, or a model in this program's care. */
export type Target = ServiceTarget | { readonly options: ServiceOptions };

interface ServiceTarget {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** A decider for the target. @throws ServiceError INVALID_OPTION | INVALID_MODEL | BACKEND_FAILED */
export async function openTarget(target: Target): Promise<Decider> {
  if ("url" in target) return connectDecider(target.url, target);
  const { host, port, ...options } = target.options;
  return createDecider({ ...options, remoteToken: readRemoteToken(process.env) });
}

/**
 * Checks a request before the model is loaded. A service checks it itself; of its address the form is checked.
 *
 * @throws ServiceError INVALID_REQUEST | INVALID_OPTION | INVALID_MODEL
 */
export async function checkFirst(operation: AskedOperation, body: string, target: Target): Promise<void> {
  if ("options" in target) return checkRequest(operation, body, target.options);
  connectDecider(target.url); // connects when it is asked
}

/**
 * Asks once.
 *
 * @param body a request's body; its Maps are written in order
 * @returns the body of the answer, as the service writes it
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
