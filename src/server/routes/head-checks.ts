import type { IncomingMessage, Server } from "node:http";
import { BlockList, isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import fastifyPlugin from "fastify-plugin";
import type { Contract, Route } from "../../contract/call.ts";
import { ServiceError } from "../../errors.ts";
import { type KeyHolder, KeyRing } from "../../keys/key-ring.ts";
import type { Log } from "../log.ts";
import { tooLarge } from "../wire/bodies.ts";
import { announcesMoreThan, headerValues, messageFailure } from "../wire/messages.ts";
import { failureReply, finishHeaders, logFault, sendReply } from "../wire/replies.ts";
import { wireReply } from "../wire/wire-failures.ts";
import { undecodablePath } from "./unknown-routes.ts";

interface HttpRules {
  readonly contract: Contract;
  readonly checkHost: HostCheck;
}

/** The rules of HTTP that do not depend on the route, the headers of every response, and the answers to errors. */
export const httpRules = fastifyPlugin<HttpRules & { readonly log: Log }>((app, rules, done) => {
  const { contract, log } = rules;
  app.addHook("onRequest", (request, reply, next) => {
    if (isAccepted(request, reply, rules)) next();
  });
  app.addHook("onSend", (request, reply, _payload, next) => {
    finishHeaders(request, reply);
    next();
  });
  app.setErrorHandler((error, request, reply) => {
    const outgoing = failureReply(contract, error, request.id);
    logFault(log, outgoing, request);
    return sendReply(reply, outgoing);
  });
  done();
});

/** Answers a path that Fastify's router cannot decode. It runs no hooks for such a path: this does their work. */
export function answerUndecodable(request: FastifyRequest, reply: FastifyReply, rules: HttpRules): void {
  finishHeaders(request, reply);
  if (!isAccepted(request, reply, rules)) return;
  void sendReply(reply, rules.contract.errorReply(undecodablePath(request.raw.url ?? ""), request.id));
}

/** Answers requests that violate the rules. @returns whether the request passes */
function isAccepted(
  request: FastifyRequest,
  reply: FastifyReply,
  { contract, checkHost }: HttpRules,
): boolean {
  const { raw } = request;
  const failure = messageFailure(raw);
  if (failure !== undefined) {
    sendReply(reply.header("connection", "close"), wireReply(contract, failure, request.id));
    return false;
  }
  const obstacle = checkHost(raw);
  if (obstacle === undefined) return true;
  sendReply(reply, contract.errorReply(obstacle, request.id));
  return false;
}

/** Host and port of a Host header or an origin: a name, an IPv4 address, or an IPv6 address in brackets. */
const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([^\s:@/?#[\]\\]+?))\.?(?::\d*)?$/i;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** @returns the error for a request that a page of another site may have sent; undefined for all others */
export type HostCheck = (request: Pick<IncomingMessage, "headers">) => ServiceError | undefined;

/**
 * Against DNS rebinding: a web page can point its own host name at the loopback address. Its browser then treats the
 * service as a part of that page's site, so neither CORS nor media types keep the page out. But it still sends the
 * page's name as `Host`.
 *
 * Only a TCP socket on a loopback address is checked: browsers cannot reach Unix sockets, and on other addresses the
 * service does not know its names. Every HTTP/1.1 request has a Host header; without one, the sender is no browser.
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
 * Against pages of other sites at /mcp, as the specification of MCP requires. Allowed are pages of the loopback, of
 * allowed hosts, and of the origins that CORS allows. Programs send no Origin header.
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

export interface HeadCheckOptions {
  readonly contract: Contract;
  /** Undefined if no key is configured; then none is checked. */
  readonly checkKey: KeyCheck | undefined;
  readonly maxBodyBytes: number;
  /** Operations that also accept the key without `Bearer `. */
  readonly bareKeys?: readonly string[] | undefined;
}

/**
 * All checks that need only a request's headers, in the order of the contract.
 *
 * @returns the holder of the request's key, if the operation needs a key
 * @throws ServiceError KEY_MISSING | UNAUTHORIZED | INVALID_REQUEST (media type) | BODY_TOO_LARGE (announced)
 */
export function checkHead(
  request: IncomingMessage,
  { operationId, needsKey, hasBody }: Pick<Route, "operationId" | "needsKey" | "hasBody">,
  { contract, checkKey, maxBodyBytes, bareKeys }: HeadCheckOptions,
): KeyHolder | undefined {
  const holder = needsKey ? checkKey?.(request, bareKeys?.includes(operationId)) : undefined;
  if (!hasBody) return holder;
  contract.checkMediaType({
    "content-type": headerValues(request.rawHeaders, "content-type"),
    "content-encoding": request.headers["content-encoding"],
  });
  if (announcesMoreThan(maxBodyBytes, request)) throw tooLarge(maxBodyBytes);
  return holder;
}

/**
 * Identifies the sender of a request by its key.
 *
 * @param takesBareKey whether the header may hold the key alone, without `Bearer `
 * @throws ServiceError KEY_MISSING or UNAUTHORIZED without a valid key
 */
export type KeyCheck = (request: Pick<IncomingMessage, "rawHeaders">, takesBareKey?: boolean) => KeyHolder;

const BEARER = /^bearer +(.+)$/i;

/**
 * Checks `Authorization: Bearer <key>`. There must be exactly one such header, with one of the keys. The scheme is
 * case-insensitive.
 *
 * Node.js decodes headers as latin1. Encoded as latin1 again, they are the bytes that the caller sent, which must be the key in
 * UTF-8.
 *
 * @param keys a single key, or the ring of all accepted keys
 */
export function createKeyCheck(keys: string | KeyRing): KeyCheck {
  const ring = typeof keys === "string" ? new KeyRing({ apiKey: keys }) : keys;
  return ({ rawHeaders }, takesBareKey = false) => {
    const values = headerValues(rawHeaders, "authorization");
    const [value = "", ...others] = values;
    const given = BEARER.exec(value)?.[1] ?? (takesBareKey ? value : "");
    const holder = ring.find(Buffer.from(given, "latin1"));
    if (holder !== undefined && given !== "" && others.length === 0) return holder;
    const [kind, got] =
      values.length === 0 ? (["KEY_MISSING", "none"] as const) : (["UNAUTHORIZED", "another"] as const);
    throw new ServiceError(kind, `Expected a valid key, as \`Authorization: Bearer <key>\`, got ${got}.`);
  };
}
