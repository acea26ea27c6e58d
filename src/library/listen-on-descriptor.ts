import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { ServiceError } from "../errors.ts";
import { checkExposure } from "../options/exposure.ts";
import { OPTION_TABLE, type ServiceOptions } from "../options/table.ts";

/**
 * The first descriptor that systemd passes. @see
 * https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
 */
const FIRST = 3;

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
    const where = { fd: FIRST, host: OPTION_TABLE.host.default };
    await server.listen(where);
  } catch (cause) {
    throw new ServiceError("INTERNAL", "cannot listen on the socket passed by systemd.", { cause });
  }
  const address: AddressInfo | string | null = server.server.address();
  if (address !== null && typeof address === "object")
    checkExposure({ ...options, socket: "", host: address.address }, apiKey);
}
