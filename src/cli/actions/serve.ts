import { serve } from "../../library/index.ts";
import { readApiKey, readRemoteToken } from "../../options/exposure.ts";
import { readPassedSocket } from "../../options/passed-socket.ts";
import type { ServiceOptions } from "../../options/table.ts";
import { readTraceSettings } from "../../telemetry/traces/trace-settings.ts";
import { createLog } from "../output/log.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { notifyReady } from "./notify-ready.ts";

/**
 * Serves until a signal ends the process.
 *
 * @param print receives model and address
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | INTERNAL (the address cannot be listened on)
 */
export async function serveUntilSignal(
  options: ServiceOptions,
  env: Readonly<Record<string, string | undefined>>,
  print: (service: { readonly model: string; readonly url: string }) => void,
): Promise<void> {
  const apiKey = readApiKey(env);
  const traces = readTraceSettings(env);
  const log = await createLog(options.logLevel, options.logFormat);
  const service = await serve(options, {
    apiKey,
    remoteToken: readRemoteToken(env),
    traces,
    log,
    hasPassedSocket: readPassedSocket(env, process.pid),
    process,
  });
  if (service === undefined) return;
  print(service);
  await notifyReady(env, log);
  collectGarbage(); // frees 20 MB of garbage from the start
}
