import { readApiKey } from "../options/exposure.ts";
import type { ServiceOptions } from "../options/table.ts";
import type { Target } from "./actions/ask.ts";
import { serviceUrl } from "./ask-flags.ts";

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
