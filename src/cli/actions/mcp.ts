import { type McpSource, serveMcp } from "../../library/index.ts";
import { readApiKey, readRemoteToken } from "../../options/exposure.ts";
import type { ServiceOptions } from "../../options/table.ts";
import { createLog } from "../output/log.ts";

/**
 * Serves MCP over standard input and output until the input ends.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | BACKEND_FAILED
 */
export async function serveMcpUntilEnd(
  source: McpSource,
  { logLevel, logFormat }: Pick<ServiceOptions, "logLevel" | "logFormat">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  await serveMcp(source, {
    apiKey: readApiKey(env),
    remoteToken: readRemoteToken(env),
    log: await createLog(logLevel, logFormat),
  });
}
