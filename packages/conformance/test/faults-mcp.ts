import type { IncomingMessage } from "node:http";
import { type Fault, KEY, type WireAnswer } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { inner, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

/** Changes what /mcp answers. */
function answers(change: (message: TreeMap, answer: WireAnswer) => void): Fault {
  return {
    send: (answer, request) => {
      if (request.url !== "/mcp" || answer.body === undefined || answer.body === "") return;
      const message = readTree(answer.body);
      if (!(message instanceof Map)) return;
      change(message, answer);
      answer.body = writeTree(message);
    },
  };
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
const heads = (change: (headers: IncomingMessage["headers"]) => void): Fault => ({
  early: ({ url, headers }) => {
    if (url === "/mcp") change(headers);
    return false;
  },
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
  {
    name: "initialize without tools",
    fault: results((result) => void inner(result, "capabilities").delete("tools")),
    fails: ["mcp.initialize"],
  },
  {
    name: "a server without a version",
    fault: results((result) => void inner(result, "serverInfo").delete("version")),
    fails: ["mcp.initialize"],
  },
  {
    name: "agreement on a revision that does not exist",
    fault: results(
      (result) => void (result.has("protocolVersion") && result.set("protocolVersion", "1999-01-01")),
    ),
    fails: ["mcp.revision.agreed", "mcp.revision.header"],
  },
  {
    name: "agreement on a revision that no request may name",
    fault: results(
      (result) => void (result.has("protocolVersion") && result.set("protocolVersion", "2026-01-01")),
    ),
    fails: ["mcp.revision.header"],
  },
  {
    name: "the header of the revision not looked at",
    fault: heads(
      (headers) =>
        void (headers["mcp-protocol-version"] === "1999-01-01" && delete headers["mcp-protocol-version"]),
    ),
    fails: ["mcp.revision.header"],
  },
  {
    name: "a revision without a handshake that server/discover does not tell",
    fault: results(
      (result) => void (result.has("supportedVersions") && result.set("supportedVersions", ["2025-11-25"])),
    ),
    fails: ["mcp.revision.without-handshake"],
  },
  {
    name: "an unsupported revision that is refused without those that are supported",
    fault: errors(-32_022, (error) => void error.delete("data")),
    fails: ["mcp.revision.without-handshake"],
  },
  {
    name: "a ping that is answered with more than nothing",
    fault: results((result) => void (result.size === 0 && result.set("pong", true))),
    fails: ["mcp.ping"],
  },
  {
    name: "the id 0 taken for none",
    fault: answers((message) => void (message.get("id") === 0 && message.set("id", null))),
    fails: ["mcp.ids"],
  },
  {
    name: "notifications answered with 200",
    fault: {
      send: (answer, { url }) => {
        if (url === "/mcp" && answer.status === 202) Object.assign(answer, { status: 200, body: "{}" });
      },
    },
    fails: ["mcp.notifications"],
  },
  {
    name: "an unknown method told as a wrong parameter",
    fault: errors(-32_601, (error) => void error.set("code", -32_602)),
    fails: ["mcp.errors.method"],
  },
  {
    name: "200 for a body that is not JSON",
    fault: errors(-32_700, (_error, _message, answer) => {
      answer.status = 200;
    }),
    fails: ["mcp.errors.json"],
  },
  {
    name: "200 for JSON that is no message",
    fault: errors(-32_600, (_error, _message, answer) => {
      answer.status = 200;
    }),
    fails: ["mcp.errors.message"],
  },
  {
    name: "a session that initialize opens",
    fault: answers((message, answer) => {
      if (inner(message, "result").has("protocolVersion")) answer.headers["mcp-session-id"] = "1";
    }),
    fails: ["mcp.sessions"],
  },
  {
    name: "a stream for GET",
    fault: {
      early: (request, response) => {
        if (request.url !== "/mcp" || request.method !== "GET") return false;
        response.writeHead(200, { "content-type": "text/event-stream" }).end();
        return true;
      },
    },
    fails: ["mcp.methods"],
  },
  {
    name: "405 that does not tell the method",
    fault: { send: (answer, { url }) => void (url === "/mcp" && delete answer.headers.allow) },
    fails: ["mcp.methods"],
  },
  {
    name: "no challenge with 401",
    hasKey: true,
    fault: { send: (answer, { url }) => void (url === "/mcp" && delete answer.headers["www-authenticate"]) },
    fails: ["mcp.keys"],
  },
  {
    name: "no key wanted for initialize",
    hasKey: true,
    fault: {
      early: ({ url, headers, rawHeaders }) => {
        const isLong = Number(headers["content-length"]) > 100; // a list of tools is not
        if (url === "/mcp" && isLong && headers.authorization === undefined)
          rawHeaders.push("authorization", `Bearer ${KEY}`);
        return false;
      },
    },
    fails: ["mcp.keys"],
  },
  {
    name: "pages of other sites answered",
    fault: heads((headers) => void delete headers.origin),
    fails: ["mcp.origin"],
  },
  {
    name: "the origin null answered",
    fault: heads((headers) => void (headers.origin === "null" && delete headers.origin)),
    fails: ["mcp.origin"],
  },
  {
    name: "any name of the host answered",
    fault: heads((headers) => {
      headers.host = "localhost";
    }),
    fails: ["mcp.host"],
  },
  {
    name: "plain text taken for JSON",
    fault: { takesAnyType: true },
    fails: ["mcp.media-type"],
  },
  {
    name: "tools that do not say that they only read",
    fault: tools((tool) => void inner(tool, "annotations").delete("readOnlyHint")),
    fails: ["mcp.tools.listed"],
  },
  {
    name: "a bound of the contract left out of a schema",
    fault: tools(
      (tool) => void inner(tool, "inputSchema", "properties", "questions").delete("maxProperties"),
    ),
    fails: ["mcp.tools.schemas"],
  },
  {
    name: "a member of the contract left out of a schema",
    fault: tools((tool) => void inner(tool, "outputSchema", "properties").delete("latency_ms")),
    fails: ["mcp.tools.schemas", "mcp.tools.fit"],
  },
  {
    name: "numbers of decide rounded",
    fault: given((body) => {
      const told = body.get("answers");
      if (told !== undefined) body.set("answers", rounded(told));
    }),
    fails: ["mcp.decide.numbers"],
  },
  {
    name: "a ranking from the worst to the best",
    fault: given((body) => {
      const ranked = body.get("ranked");
      if (Array.isArray(ranked)) ranked.reverse();
    }),
    fails: ["mcp.rank.numbers"],
  },
  {
    name: "a list of models with another alias",
    fault: given((body) => {
      const models = body.get("models");
      if (Array.isArray(models)) for (const model of models) inner(model).set("aliases", ["x"]);
    }),
    fails: ["mcp.models.same"],
  },
  {
    name: "a text that points to the structure",
    fault: results(
      (result) => void (result.has("structuredContent") && textIn(result).set("text", "See the structure.")),
    ),
    fails: [
      "mcp.results.text",
      "mcp.decide.numbers",
      "mcp.rank.numbers",
      "mcp.arguments.order",
      "mcp.arguments.digits",
    ],
  },
  {
    name: "a structure with other numbers than the text",
    fault: results((result) => {
      const structure = result.get("structuredContent");
      if (structure !== undefined) result.set("structuredContent", rounded(structure));
    }),
    fails: ["mcp.results.text"],
  },
  {
    name: "a text written by JSON.stringify",
    fault: results((result) => {
      const text = textIn(result);
      if (result.has("structuredContent"))
        text.set("text", JSON.stringify(JSON.parse(String(text.get("text")))));
    }),
    fails: ["mcp.arguments.order"],
  },
  {
    name: "arguments read by JSON.parse",
    fault: { request: (text) => text.replace(/:(\d{16,})/g, (_all, digits) => `:${Number(digits)}`) },
    fails: ["mcp.arguments.digits"],
  },
  {
    name: "wrong arguments told as a success",
    fault: refusals((result) => void result.delete("isError")),
    fails: ["mcp.errors.arguments", "mcp.arguments.duplicates"],
  },
  {
    name: "wrong arguments told without their place",
    fault: refusals((result) => void textIn(result).set("text", "Invalid input.")),
    fails: ["mcp.errors.arguments", "mcp.arguments.duplicates"],
  },
  {
    name: "an unknown tool told as a result",
    fault: errors(-32_602, (_error, message) => {
      message.delete("error");
      message.set("result", new Map<string, Tree>([["isError", true]]));
    }),
    fails: ["mcp.errors.tool"],
  },
  {
    name: "calls that get the answer to another",
    fault: answers((message) => {
      if (!String(message.get("id")).startsWith("call ")) return;
      first ??= message.get("result") ?? null;
      message.set("result", first);
    }),
    fails: ["mcp.calls.belong"],
  },
];
