import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { serve } from "../../library/index.ts";
import { readApiKey, readPassedSocket, readRemoteToken } from "../../options/exposure.ts";
import { OPTION_TABLE, type OptionName, type ServiceOptions } from "../../options/table.ts";
import type { Log } from "../../server/log.ts";
import { readTraceSettings } from "../../telemetry/traces/trace-settings.ts";
import { BaseCommand } from "../base-command.ts";
import { configFlag, optionFlags } from "../option-flags.ts";
import { createLog } from "../output/log.ts";

export default class Serve extends BaseCommand {
  static override summary = "Serve the API over HTTP until SIGTERM or Ctrl-C.";
  static override description =
    "If DECISION_API_KEY or --keys-file is set, inference requests need the header `Authorization: Bearer <key>`.\n" +
    "Options can also be set by environment variables or in a configuration file. A flag overrides its variable, which " +
    "overrides the file. docs/configuration.md explains them.";
  static override examples = [
    "<%= config.bin %> serve",
    "<%= config.bin %> serve --port 8080 --precision fp32 --metrics",
    "DECISION_API_KEY=$(openssl rand -hex 32) <%= config.bin %> serve --host 0.0.0.0 --port 8700",
  ];
  // all options
  static override flags = { ...optionFlags(Object.keys(OPTION_TABLE) as OptionName[]), ...configFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    const options = await this.options(flags);
    // imported after the flags are read: `--help` and wrong usage need neither web server nor model
    await serveUntilSignal(options, process.env, ({ model, url }) =>
      this.log(flags.json ? JSON.stringify({ model, url }) : `decision serves ${model} at ${url}`),
    );
  }
}

/** Time limit of systemd-notify. Chosen: systemd normally answers at once. */
const NOTIFY_MS = 5_000;

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
}

/**
 * Notifies systemd that the service is ready, if the unit has `Type=notify` (which needs `NotifyAccess=all`). Node.js
 * cannot send to systemd's datagram socket, so `systemd-notify` does it.
 *
 * @see https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
async function notifyReady(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Log, "warn">,
): Promise<void> {
  const { NOTIFY_SOCKET, PATH } = env;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === "") return;
  try {
    await promisify(execFile)("systemd-notify", ["--ready"], {
      env: { NOTIFY_SOCKET, PATH },
      timeout: NOTIFY_MS,
    });
  } catch (error) {
    log.warn({ err: error }, "systemd-notify failed: systemd does not know that the service is ready");
  }
}
