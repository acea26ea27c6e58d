import type { IncomingMessage } from "node:http";
import type { Fault, WireAnswer } from "./faulty-service.ts";
import { faults, keyedFaults, on, type PlantedFault } from "./planted-fault.ts";
import { inner, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

/** Changes what /mcp answers. */
function answers(change: (message: TreeMap, answer: WireAnswer) => void): Fault {
  return on.send((answer, request) => {
    if (request.url !== "/mcp" || answer.body === undefined || answer.body === "") return;
    const message = readTree(answer.body);
    if (!(message instanceof Map)) return;
    change(message, answer);
    answer.body = writeTree(message);
  });
}
const results = (change: (result: TreeMap) => void): Fault =>
  answers((message) => {
    const result = message.get("result");
    if (result instanceof Map) change(result);
  });
/** Changes what a tool has given, as structure and as text. */
const given = (change: (body: TreeMap) => void): Fault =>
  results((result) => {
    const body = result.get("structuredContent");
    if (!(body instanceof Map)) return;
    const told = readTree(String(textIn(result).get("text")));
    for (const tree of [body, told]) if (tree instanceof Map) change(tree);
    textIn(result).set("text", writeTree(told));
  });
const refusals = (change: (result: TreeMap) => void): Fault =>
  results((result) => void (result.get("isError") === true && change(result)));
const errors = (
  code: number,
  change: (error: TreeMap, message: TreeMap, answer: WireAnswer) => void,
): Fault =>
  answers((message, answer) => {
    const error = inner(message, "error");
    if (error.get("code") === code) change(error, message, answer);
  });
const tools = (change: (tool: TreeMap) => void): Fault =>
  results((result) => {
    const list = result.get("tools");
    if (Array.isArray(list)) for (const tool of list) if (tool instanceof Map) change(tool);
  });
/** Changes the head of a request to /mcp before anything looks at it. */
const heads = (change: (headers: IncomingMessage["headers"]) => void): Fault =>
  on.early(({ url, headers }) => {
    if (url === "/mcp") change(headers);
    return false;
  });

function textIn(result: TreeMap): TreeMap {
  const content = result.get("content");
  const [first] = Array.isArray(content) ? content : [];
  return inner(first);
}

function rounded(tree: Tree): Tree {
  if (typeof tree === "number") return Number(tree.toFixed(3));
  if (Array.isArray(tree)) return tree.map(rounded);
  return tree instanceof Map ? new Map([...tree].map(([name, member]) => [name, rounded(member)])) : tree;
}

let first: Tree | undefined;

/** Faults of the MCP endpoint only; the plain contract is served correctly. */
export const MCP_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "initialize without tools: mcp.initialize": results(
      (result) => void inner(result, "capabilities").delete("tools"),
    ),
    "a server without a version: mcp.initialize": results(
      (result) => void inner(result, "serverInfo").delete("version"),
    ),
    "agreement on a revision that does not exist: mcp.revision.agreed": results(
      (result) => void (result.has("protocolVersion") && result.set("protocolVersion", "1999-01-01")),
    ),
    "agreement on a revision that no request may name: mcp.revision.header": results(
      (result) => void (result.has("protocolVersion") && result.set("protocolVersion", "2026-01-01")),
    ),
    "the header of the revision not looked at: mcp.revision.header": heads(
      (headers) =>
        void (headers["mcp-protocol-version"] === "1999-01-01" && delete headers["mcp-protocol-version"]),
    ),
    "a revision without a handshake that server/discover does not tell: mcp.revision.without-handshake":
      results(
        (result) => void (result.has("supportedVersions") && result.set("supportedVersions", ["2025-11-25"])),
      ),
    "an unsupported revision that is refused without those that are supported: mcp.revision.without-handshake":
      errors(-32_022, (error) => void error.delete("data")),
    "a ping that is answered with more than nothing: mcp.ping": results(
      (result) => void (result.size === 0 && result.set("pong", true)),
    ),
    "the id 0 taken for none: mcp.ids": answers(
      (message) => void (message.get("id") === 0 && message.set("id", null)),
    ),
    "notifications answered with 200: mcp.notifications": on.send((answer, { url }) => {
      if (url === "/mcp" && answer.status === 202) Object.assign(answer, { status: 200, body: "{}" });
    }),
    "an unknown method told as a wrong parameter: mcp.errors.method": errors(
      -32_601,
      (error) => void error.set("code", -32_602),
    ),
    "200 for a body that is not JSON: mcp.errors.json": errors(-32_700, (_error, _message, answer) => {
      answer.status = 200;
    }),
    "200 for JSON that is no message: mcp.errors.message": errors(-32_600, (_error, _message, answer) => {
      answer.status = 200;
    }),
    "a session that initialize opens: mcp.sessions": answers((message, answer) => {
      if (inner(message, "result").has("protocolVersion")) answer.headers["mcp-session-id"] = "1";
    }),
    "405 that does not tell the method: mcp.methods": on.send(
      (answer, { url }) => void (url === "/mcp" && delete answer.headers.allow),
    ),
    "pages of other sites answered: mcp.origin": heads((headers) => void delete headers.origin),
    "the origin null answered: mcp.origin": heads(
      (headers) => void (headers.origin === "null" && delete headers.origin),
    ),
    "any name of the host answered: mcp.host": heads((headers) => {
      headers.host = "localhost";
    }),
    "plain text taken for JSON: mcp.media-type": { takesAnyType: true },
    "tools that do not say that they only read: mcp.tools.listed": tools(
      (tool) => void inner(tool, "annotations").delete("readOnlyHint"),
    ),
    "a bound of the contract left out of a schema: mcp.tools.schemas": tools(
      (tool) => void inner(tool, "inputSchema", "properties", "questions").delete("maxProperties"),
    ),
    "a member of the contract left out of a schema: mcp.tools.fit": tools(
      (tool) => void inner(tool, "outputSchema", "properties").delete("latency_ms"),
    ),
    "numbers of decide rounded: mcp.decide.numbers": given((body) => {
      const told = body.get("answers");
      if (told !== undefined) body.set("answers", rounded(told));
    }),
    "a ranking from the worst to the best: mcp.rank.numbers": given((body) => {
      const ranked = body.get("ranked");
      if (Array.isArray(ranked)) ranked.reverse();
    }),
    "a list of models with another alias: mcp.models.same": given((body) => {
      const models = body.get("models");
      if (Array.isArray(models)) for (const model of models) inner(model).set("aliases", ["x"]);
    }),
    "a text that points to the structure: mcp.results.text, mcp.decide.numbers, mcp.rank.numbers, mcp.arguments.order":
      results(
        (result) =>
          void (result.has("structuredContent") && textIn(result).set("text", "See the structure.")),
      ),
    "a structure with other numbers than the text: mcp.results.text": results((result) => {
      const structure = result.get("structuredContent");
      if (structure !== undefined) result.set("structuredContent", rounded(structure));
    }),
    "arguments read by JSON.parse: mcp.arguments.digits": on.request((text) =>
      text.replace(/:(\d{16,})/g, (_all, digits) => `:${Number(digits)}`),
    ),
    "wrong arguments told as a success: mcp.errors.arguments, mcp.arguments.duplicates": refusals(
      (result) => void result.delete("isError"),
    ),
    "wrong arguments told without their place: mcp.errors.arguments, mcp.arguments.duplicates": refusals(
      (result) => void textIn(result).set("text", "Invalid input."),
    ),
    "an unknown tool told as a result: mcp.errors.tool": errors(-32_602, (_error, message) => {
      message.delete("error");
      message.set("result", new Map<string, Tree>([["isError", true]]));
    }),
    "calls that get the answer to another: mcp.calls.belong": answers((message) => {
      if (!String(message.get("id")).startsWith("call ")) return;
      first ??= message.get("result") ?? null;
      message.set("result", first);
    }),
  }),
  ...keyedFaults({
    "no challenge with 401: mcp.keys": on.send(
      (answer, { url }) => void (url === "/mcp" && delete answer.headers["www-authenticate"]),
    ),
  }),
];
