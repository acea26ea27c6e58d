import type { FastifyReply, FastifyRequest } from "fastify";
import fastifyPlugin from "fastify-plugin";
import type { Contract } from "../../contract/call.ts";
import type { Log } from "../log.ts";
import { messageFailure } from "../wire/messages.ts";
import { failureReply, finishHeaders, logFault, sendReply } from "../wire/replies.ts";
import { wireReply } from "../wire/wire-failures.ts";
import type { HostCheck } from "./hosts.ts";
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
