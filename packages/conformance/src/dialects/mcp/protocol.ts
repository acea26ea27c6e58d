import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isList, isMap, show } from "../../client/json.ts";
import type { Check } from "../../trial/check.ts";
import type { Trial } from "../../trial/trial.ts";
import {
  callOf,
  expectRefusals,
  expectRpcError,
  LIST,
  MCP_PATH,
  mcpChecks,
  messageIn,
  resultOf,
  send,
} from "./messages.ts";

/** Protocol revisions with `initialize`, latest first. */
const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const NO_REVISIONS = ["1999-01-01", "2999-01-01", "x"];
/** The revision without a handshake. */
const MODERN = "2026-07-28";
const UNSUPPORTED_REVISION = -32_022;

const initialize = (protocolVersion: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "conformance", version: "1" } },
});

async function agreedRevision(trial: Trial, asked: string): Promise<string> {
  const { reply, result } = await resultOf(trial, initialize(asked));
  const agreed = at(result, "protocolVersion");
  if (typeof agreed !== "string") return trial.fail(`protocolVersion is ${show(agreed)}`, reply);
  return agreed;
}

/**
 * Sends a request of the revision without a handshake. It carries the revision and the client's capabilities itself.
 */
function sendModern(trial: Trial, method: string, params: object = {}, revision = MODERN): Promise<Reply> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "conformance", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = "name" in params ? { "mcp-name": String(params.name) } : {};
  const headers = { "mcp-protocol-version": revision, "mcp-method": method, ...name };
  return send(trial, { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }, { headers });
}

/** @throws CannotTell if the server does not support that revision */
async function modernResult(trial: Trial, method: string, params?: object) {
  const reply = await sendModern(trial, method, params);
  trial.expect(reply.status === 200, `${excerpt(reply)}, in revision ${MODERN}`, reply);
  const result = at(messageIn(reply), "result");
  if (!isMap(result)) return trial.fail(`no result: ${excerpt(reply)}`, reply);
  return { reply, result };
}

/** Checks of the protocol, apart from the tools. */
export const PROTOCOL_CHECKS: readonly Check[] = [
  ...mcpChecks("lifecycle", {
    initialize: {
      clause: "`initialize` returns the server's name, its version and the capability `tools`.",
      expected: "serverInfo with name and version, capabilities with tools",
      run: async (trial: Trial) => {
        const { reply, result } = await resultOf(trial, initialize("2025-06-18"));
        for (const name of ["name", "version"]) {
          const told = at(result, "serverInfo", name);
          trial.expect(typeof told === "string" && told !== "", `serverInfo.${name} is ${show(told)}`, reply);
        }
        trial.expect(isMap(at(result, "capabilities", "tools")), "no tools among the capabilities", reply);
      },
    },
    "revision.agreed": {
      clause: "`initialize` agrees on the requested revision, or on another one that the server supports.",
      expected: "the requested revision, or one that the server accepts when requested",
      run: async (trial: Trial) => {
        for (const asked of [...REVISIONS, ...NO_REVISIONS]) {
          const agreed = await agreedRevision(trial, asked);
          if (agreed === asked && !NO_REVISIONS.includes(asked)) continue;
          trial.expect(!NO_REVISIONS.includes(agreed), `it agrees on ${agreed}, which does not exist`);
          const again = await agreedRevision(trial, agreed);
          trial.expect(again === agreed, `${agreed} for ${asked}, and ${again} for ${agreed}`);
        }
      },
    },
    "revision.without-handshake": {
      clause: `Revision ${MODERN} is supported without a handshake; the error for an unknown revision lists the supported ones.`,
      expected: `supportedVersions of server/discover with ${MODERN}, results, and the error ${UNSUPPORTED_REVISION}`,
      run: async (trial: Trial) => {
        const first = await sendModern(trial, "server/discover");
        if (at(messageIn(first), "error", "code") === -32_601)
          trial.skip(`the server does not support ${MODERN}`);
        const { reply, result } = await modernResult(trial, "server/discover");
        const spoken = at(result, "supportedVersions");
        const isSpoken = isList(spoken) && spoken.includes(MODERN);
        trial.expect(isSpoken, `supportedVersions is ${show(spoken)}`, reply);
        const listed = await modernResult(trial, "tools/list");
        trial.expect(isList(at(listed.result, "tools")), "no list of tools", listed.reply);
        const called = await modernResult(trial, "tools/call", { name: "models", arguments: {} });
        trial.expect(isMap(at(called.result, "structuredContent")), excerpt(called.reply), called.reply);
        const refused = await sendModern(trial, "tools/list", {}, "2999-01-01");
        trial.status(refused, 400);
        expectRpcError(trial, refused, UNSUPPORTED_REVISION, 1);
        const told = at(messageIn(refused), "error", "data", "supported");
        trial.expect(isList(told) && told.includes(MODERN), `the supported revisions ${show(told)}`, refused);
      },
    },
  }),
  ...mcpChecks("transports", {
    "revision.header": {
      clause: "The header MCP-Protocol-Version may have the agreed revision, but no unknown one.",
      expected: "200 with the agreed revision, 400 with one that does not exist",
      run: async (trial: Trial) => {
        const agreed = await agreedRevision(trial, "2025-06-18");
        await resultOf(trial, LIST, { headers: { "mcp-protocol-version": agreed } });
        const unknown = { "mcp-protocol-version": "1999-01-01" };
        await expectRefusals(trial, [LIST], { headers: unknown, status: 400 });
      },
    },
    notifications: {
      clause:
        "Notifications, and responses to requests that were never sent, are accepted without an answer.",
      expected: "202 without a body",
      run: async (trial: Trial) => {
        for (const message of [
          { jsonrpc: "2.0", method: "notifications/initialized" },
          { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 4711 } },
          { jsonrpc: "2.0", method: "notifications/unheard-of" },
          { jsonrpc: "2.0", id: 4711, result: {} },
        ]) {
          const reply = await send(trial, message);
          trial.expect(reply.status === 202 && reply.text === "", excerpt(reply), reply);
        }
      },
    },
    sessions: {
      clause: "There are no sessions: no request needs a handshake first, and none opens a session.",
      expected: "a list of tools without a handshake, no header mcp-session-id",
      run: async (trial: Trial) => {
        await resultOf(trial, LIST);
        const { reply } = await resultOf(trial, initialize("2025-06-18"));
        const id = reply.headers["mcp-session-id"];
        trial.expect(id === undefined, "initialize opens a session", reply);
      },
    },
    methods: {
      clause: "GET and DELETE are refused, since there are no streams and no sessions.",
      expected: "405 with `Allow: POST`",
      needsInference: false,
      run: async (trial: Trial) => {
        const key = trial.target.apiKey;
        const headers = {
          accept: "text/event-stream",
          authorization: key === undefined ? undefined : `Bearer ${key}`,
        };
        for (const method of ["GET", "DELETE"]) {
          const reply = await trial.call(method, MCP_PATH, { headers });
          trial.expect(reply.status === 405, `${excerpt(reply)} to ${method}`, reply);
          trial.expect(/\bPOST\b/.test(reply.headers.allow ?? ""), `Allow is ${reply.headers.allow}`, reply);
        }
      },
    },
    keys: {
      clause: "If the server requires a key, requests without it or with a wrong one are refused.",
      expected: "401 with `WWW-Authenticate: Bearer`, for each method",
      needsInference: false,
      run: async (trial: Trial) => {
        if (!trial.facts.wantsKey) trial.skip("the server requires no key");
        const messages = [LIST, initialize("2025-06-18"), callOf("models", {}), { ...LIST, id: undefined }];
        for (const message of messages)
          for (const authorization of [undefined, "Bearer wrong"]) {
            const reply = await send(trial, message, { hasKey: false, headers: { authorization } });
            trial.status(reply, 401);
            const challenge = reply.headers["www-authenticate"] ?? "";
            trial.expect(/^Bearer\b/i.test(challenge), `WWW-Authenticate is ${challenge}`, reply);
          }
      },
    },
    origin: {
      clause: "Requests from pages of other origins are refused.",
      expected:
        "403 for another origin and for the origin null, before the key is checked; 200 for the server's own",
      run: async (trial: Trial) => {
        for (const origin of ["https://other.example", "http://other.example:8700", "null"])
          for (const hasKey of [true, false])
            await expectRefusals(trial, [LIST], { hasKey, headers: { origin }, status: 403 });
        await resultOf(trial, LIST, { headers: { origin: trial.target.base.origin } });
      },
    },
    host: {
      clause: "A server on a loopback address accepts only the loopback's host names.",
      expected: "403 for another name in the header Host, 200 for localhost",
      run: async (trial: Trial) => {
        const { base, socketPath } = trial.target;
        const { hostname, port } = base;
        if (socketPath !== undefined || !/^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname))
          trial.skip("the server's address is not a loopback address");
        for (const host of ["other.example", `localhost.other.example:${port}`])
          await expectRefusals(trial, [LIST], { headers: { host }, status: 403 });
        await resultOf(trial, LIST, { headers: { host: `localhost:${port}` } });
      },
    },
    "media-type": {
      clause:
        "A body must be declared as JSON: browsers let other sites send plain text without a preflight request.",
      expected: "400 or 415 for text/plain and without a media type",
      run: async (trial: Trial) => {
        for (const type of ["text/plain", undefined]) {
          const headers = { "content-type": type };
          await expectRefusals(trial, [JSON.stringify(LIST)], { headers, status: [400, 415] });
        }
      },
    },
  }),
  ...mcpChecks("ping", {
    ping: {
      clause: "`ping` is answered with an empty result.",
      expected: "the result {}",
      run: async (trial: Trial) => {
        const { reply, result } = await resultOf(trial, { jsonrpc: "2.0", id: 1, method: "ping" });
        trial.expect(result.size === 0, `the result ${show(result)}`, reply);
      },
    },
  }),
  ...mcpChecks("messages", {
    ids: {
      clause: "An answer has the id of its request, a number or a string.",
      expected: "the same id, of the same type",
      run: async (trial: Trial) => {
        for (const id of [0, 1, -7, 2 ** 53 - 1, "1", "", "a b/ü"]) await resultOf(trial, { ...LIST, id });
      },
    },
    "errors.method": {
      clause: "An unknown method gets a protocol error.",
      expected: "the error -32601 under the request's id",
      run: (trial) => {
        const methods = ["no/such-method", "tools/lists", "prompts/list"];
        const messages = methods.map((method) => ({ jsonrpc: "2.0", id: "m", method }));
        return expectRefusals(trial, messages, { code: -32_601, id: "m" });
      },
    },
    "errors.json": {
      clause: "A body that is not JSON is refused.",
      expected: "400 and the error -32700 without an id",
      run: (trial) => {
        const texts = ["{", "", "nonsense", '{"jsonrpc": "2.0",}'];
        return expectRefusals(trial, texts, { status: 400, code: -32_700, id: null });
      },
    },
    "errors.message": {
      clause: "JSON that is not a JSON-RPC 2.0 message is refused.",
      expected: "400 and the error -32600",
      run: (trial) => {
        const messages = [1, {}, { id: 1, method: "tools/list" }, { ...LIST, jsonrpc: "1.0" }];
        return expectRefusals(trial, messages, { status: 400, code: -32_600 });
      },
    },
  }),
];
