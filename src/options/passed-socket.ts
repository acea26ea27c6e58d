import { invalidOption } from "./invalid-option.ts";

/**
 * Whether systemd has passed a socket that listens already.
 *
 * @param pid of this process: the variables may be meant for the one that started it
 * @throws ServiceError INVALID_OPTION for several sockets
 */
export function readPassedSocket(env: Readonly<Record<string, string | undefined>>, pid: number): boolean {
  if (env.LISTEN_PID !== String(pid)) return false;
  if (env.LISTEN_FDS === "1") return true;
  throw invalidOption(
    `LISTEN_FDS is ${JSON.stringify(env.LISTEN_FDS)}: the service takes one socket from systemd.`,
  );
}
