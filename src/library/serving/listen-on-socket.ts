import { once } from "node:events";
import { lstatSync, rmSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { codeOf, ServiceError } from "../../errors.ts";
import { checkExposure } from "../../options/exposure.ts";
import { OPTION_TABLE, type ServiceOptions } from "../../options/table.ts";

/** Advice by system error code. Node.js reports a missing folder as EACCES. */
const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: "a file that is not a socket exists there",
  EACCES: "its folder does not exist, or this user may not write to it",
};
/** The longest path that a socket address can hold, in bytes. Node.js 20 silently truncates longer ones. */
const MAX_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

/**
 * The first descriptor that systemd passes. @see
 * https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
 */
const FIRST_PASSED = 3;

/**
 * Listens on a Unix socket. Removes the socket file of a killed service, but not that of a running one.
 *
 * @throws ServiceError INTERNAL
 */
export async function listenOnSocket(server: FastifyInstance, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw cannotListen(path, `its path has more than ${MAX_PATH_BYTES} bytes`);
  if (isSocket(path)) {
    if (await isAnswered(path)) throw cannotListen(path, "another program listens on it");
    rmSync(path);
  }
  try {
    await server.listen({ path });
  } catch (cause) {
    const reason = codeOf(cause) ?? String(cause);
    throw cannotListen(path, ADVICE[reason] ?? reason, cause);
  }
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function cannotListen(path: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError("INTERNAL", `cannot listen on the socket ${path}: ${reason}.`, { cause });
}

/**
 * Listens on the socket passed by systemd. The socket's address, not --host, determines whether a key is required.
 *
 * @throws ServiceError INVALID_OPTION | INTERNAL
 */
export async function listenOnPassedSocket(
  server: FastifyInstance,
  options: ServiceOptions,
  apiKey: string | undefined,
): Promise<void> {
  try {
    // Fastify passes unknown options on to Node; with a host it does not bind further addresses
    const where = { fd: FIRST_PASSED, host: OPTION_TABLE.host.default };
    await server.listen(where);
  } catch (cause) {
    throw new ServiceError("INTERNAL", "cannot listen on the socket passed by systemd.", { cause });
  }
  const address: AddressInfo | string | null = server.server.address();
  if (address !== null && typeof address === "object")
    checkExposure({ ...options, socket: "", host: address.address }, apiKey);
}
