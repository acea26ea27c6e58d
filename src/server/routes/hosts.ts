import type { IncomingMessage, Server } from "node:http";
import { BlockList, isIP } from "node:net";
import { ServiceError } from "../../errors.ts";

/** Host and port of a Host header or an origin: a name, an IPv4 address, or an IPv6 address in brackets. */
const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([^\s:@/?#[\]\\]+?))\.?(?::\d*)?$/i;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** @returns the error for a request that a page of another site may have sent; undefined for all others */
export type HostCheck = (request: Pick<IncomingMessage, "headers">) => ServiceError | undefined;

/**
 * Against DNS rebinding: a web page can point its own host name at the loopback address. Its browser then treats the service as a
 * part of that page's site, so neither CORS nor media types keep the page out. But it still sends the page's name as `Host`.
 *
 * Only a TCP socket on a loopback address is checked: browsers cannot reach Unix sockets, and on other addresses the service does
 * not know its names. Every HTTP/1.1 request has a Host header; without one, the sender is no browser.
 *
 * @param server  whose address is read when it listens, because systemd may have opened its socket
 * @param allowed host names besides those of the loopback, in lower case
 */
export function createHostCheck(server: Server, allowed: readonly string[]): HostCheck {
  let isLocal = false;
  server.on("listening", () => {
    const address = server.address();
    isLocal = typeof address === "object" && address !== null && isLoopback(address.address);
  });
  return ({ headers: { host } }) => {
    if (!isLocal || host === undefined || isOwn(host, allowed)) return undefined;
    return new ServiceError(
      "HOST_NOT_ALLOWED",
      "Expected a Host header that names the loopback or a host allowed by --allowed-host, got another.",
    );
  };
}

/**
 * Against pages of other sites at /mcp, as the specification of MCP requires. Allowed are pages of the loopback, of allowed hosts,
 * and of the origins that CORS allows. Programs send no Origin header.
 */
export function createOriginCheck(allowed: readonly string[], corsOrigins: readonly string[]): HostCheck {
  return ({ headers: { origin } }) => {
    if (origin === undefined || corsOrigins.includes("*") || corsOrigins.includes(origin)) return undefined;
    if (isOwn(origin.replace(/^https?:\/\//, ""), allowed)) return undefined;
    return new ServiceError(
      "ORIGIN_NOT_ALLOWED",
      "Expected no Origin header, or one of this service or allowed by --cors-origin or --allowed-host, got another.",
    );
  };
}

function isOwn(authority: string, allowed: readonly string[]): boolean {
  const [, address, name] = AUTHORITY.exec(authority) ?? [];
  const host = (address ?? name ?? "").toLowerCase();
  return host === "localhost" || isLoopback(host) || allowed.includes(host);
}

function isLoopback(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 6 ? "ipv6" : "ipv4");
}
