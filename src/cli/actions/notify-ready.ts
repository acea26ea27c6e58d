import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Log } from "../../server/log.ts";

/** Time limit of systemd-notify. Chosen: systemd normally answers at once. */
const NOTIFY_MS = 5_000;

/**
 * Notifies systemd that the service is ready, if the unit has `Type=notify` (which needs `NotifyAccess=all`). Node.js
 * cannot send to systemd's datagram socket, so `systemd-notify` does it.
 *
 * @see https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
 */
export async function notifyReady(
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
