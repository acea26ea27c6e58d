import type { IncomingMessage, ServerResponse } from "node:http";
import type { OutgoingReply } from "../../../src/contract/call.ts";
import { REQUEST_LIMITS } from "../../../src/decisions/limits.ts";
import type { Fault } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { edit, editQuestions, lengthOf, pairsOf, questionsOf, refuseWhen, showing } from "./planting.ts";
import { early, refuse } from "./planting-http.ts";
import { inner, mapsIn, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

const SPECIAL_TOKENS =
  "The number of special tokens of a pair, and that token limits and `input_tokens` count them.";
const { maxBodyBytes: MAX_BYTES, maxCandidates, maxPairs } = REQUEST_LIMITS;
const announced = ({ headers }: IncomingMessage) => Number(headers["content-length"]);
const isInference = ({ method, url }: IncomingMessage) =>
  method === "POST" && /^\/v1\/(rank|systemone)$/.test(url ?? "");
const tooLarge = (response: ServerResponse) =>
  refuse(response, 413, undefined, { "x-decision-error": "BODY_TOO_LARGE", connection: "close" });
const SMALL: Readonly<Record<string, string>> = {
  rank: '{"state":"s","candidates":["a","b"]}',
  systemone: '{"state":"s","questions":{"q":{"type":"noul","instructions":"i"}}}',
};
const small = (operation: string) => SMALL[operation] ?? "";

/** Takes a whole body and has the service answer a small one in its place, if it is accepted. */
function takeWhole(
  request: IncomingMessage,
  response: ServerResponse,
  isAccepted: (body: Buffer) => boolean,
): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", async () => {
    const body = Buffer.concat(chunks);
    if (!isAccepted(body) && body.byteLength > MAX_BYTES) return tooLarge(response);
    const {
      host,
      "content-length": _length,
      "transfer-encoding": _coding,
      connection: _connection,
      ...headers
    } = request.headers;
    const sent = body.byteLength > MAX_BYTES ? small(request.url?.slice(4) ?? "") : body;
    const answer = await fetch(`http://${host}${request.url}`, {
      method: "POST",
      headers: headers as Record<string, string>, // single values: the checks repeat none
      body: sent,
    });
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(Buffer.from(await answer.arrayBuffer()));
  });
}
/** Answers what the service refused, as if a smaller request had come. */
const acceptWhen = (
  isAccepted: (body: TreeMap, reply: OutgoingReply) => boolean,
  finish: (body: TreeMap) => void = () => {},
): Fault => ({
  reply: async (reply, { body, operationId }, again) => {
    if (reply.status !== 422) return reply;
    const tree = read(body);
    if (tree === undefined || !isAccepted(tree, reply)) return reply;
    const answered = await again(small(operationId));
    const answer = readTree(answered.body);
    if (answer instanceof Map) finish(answer);
    return { ...answered, body: writeTree(answer) };
  },
});
function read(body: Uint8Array): TreeMap | undefined {
  try {
    const tree = readTree(Buffer.from(body).toString("utf8"));
    return tree instanceof Map ? tree : undefined;
  } catch {
    return undefined;
  }
}
const depthOf = (tree: Tree | undefined): number => {
  const members = tree instanceof Map ? [...tree.values()] : Array.isArray(tree) ? tree : undefined;
  return members === undefined
    ? 0
    : 1 + members.reduce<number>((most, member) => Math.max(most, depthOf(member)), 0);
};
/** As if a limit of tokens were one lower: a token more is shown, and not counted. */
const oneLess: (part: "state" | "candidate") => Fault = (part) => ({
  ...(part === "candidate"
    ? showing(({ text }) => `${text} a`)
    : { texts: (request) => ({ ...request, state: { ...request.state, text: `${request.state.text} a` } }) }),
  scores: (scored) => ({
    ...scored,
    inputTokens:
      scored.inputTokens - scored.scores.reduce((sum, { length }) => sum + length, 0) + scored.cachedPairs,
  }),
});
const refuseNames = (isRefused: (name: string) => boolean): Fault => ({
  reply: refuseWhen((body) => mapsIn(body).some((map) => [...map.keys()].some(isRefused))),
});
const refuseText = (pattern: RegExp): Fault => ({
  reply: (reply, call, again) =>
    pattern.test(Buffer.from(call.body).toString("utf8"))
      ? refuseWhen(() => true)(reply, call, again)
      : reply,
});

/** Wrong limits, and bodies that are wrongly refused or accepted. */
export const LIMIT_FAULTS: readonly PlantedFault[] = [
  {
    name: "the largest body refused",
    fault: early((r) => isInference(r) && announced(r) === MAX_BYTES, tooLarge),
    fails: ["limits.body"],
  },
  {
    name: "a body of a byte too many accepted",
    fault: {
      early: (request, response) => {
        if (!isInference(request) || announced(request) !== MAX_BYTES + 1) return false;
        takeWhole(request, response, () => true);
        return true;
      },
    },
    fails: ["limits.body"],
  },
  {
    name: "bodies without a length are not bounded",
    fault: {
      early: (request, response) => {
        if (!isInference(request) || request.headers["transfer-encoding"] === undefined) return false;
        takeWhole(request, response, () => true);
        return true;
      },
    },
    fails: ["limits.body-chunked"],
  },
  {
    name: "the size of a body counted in characters",
    fault: {
      early: (request, response) => {
        if (!isInference(request) || !(announced(request) > MAX_BYTES)) return false;
        takeWhole(request, response, (body) => body.toString("utf8").length <= MAX_BYTES);
        return true;
      },
    },
    fails: ["limits.body-announced", "limits.body-bytes"],
  },
  {
    name: "a size that is announced refused when the body has come",
    fault: {
      early: (request, response) => {
        if (!isInference(request) || !(announced(request) > MAX_BYTES)) return false;
        request.resume();
        request.on("end", () => tooLarge(response));
        return true;
      },
    },
    fails: ["limits.body-announced"],
  },
  {
    name: "99 levels of nesting at most",
    fault: { reply: refuseWhen((body) => depthOf(body) === 100) },
    fails: ["limits.nesting"],
  },
  {
    name: "101 levels of nesting accepted",
    fault: acceptWhen((body) => depthOf(body) === 101),
    fails: ["limits.nesting"],
  },
  {
    name: "nesting of arrays not counted",
    fault: acceptWhen(
      (body, { body: text }) =>
        text.includes("nesting_too_deep") && [body.get("state"), body.get("question")].some(Array.isArray),
    ),
    fails: ["limits.nesting"],
  },
  {
    name: "no questions at all answered",
    fault: acceptWhen(
      (body) => body.get("questions") instanceof Map && inner(body, "questions").size === 0,
      (answer) => inner(answer, "answers").clear(),
    ),
    fails: ["limits.questions", "request.unknown-field"],
  },
  {
    name: "yes/no questions not counted as pairs",
    fault: acceptWhen((body, { body: text }) => {
      const nouls = questionsOf(body).filter((question) => question.get("type") === "noul");
      return text.includes("too_many_pairs") && pairsOf(body) - 2 * nouls.length <= maxPairs;
    }),
    fails: ["limits.pairs", "limits.pairs-refused"],
  },
  {
    name: "a candidate too many accepted",
    fault: edit((body) => {
      for (const name of ["candidates", "answers"]) {
        const given = body.get(name);
        if (Array.isArray(given) && given.length === maxCandidates + 1) given.pop();
        if (given instanceof Map && given.size === maxCandidates + 1)
          given.delete([...given.keys()].at(-1) ?? "");
      }
    }),
    fails: ["limits.candidates"],
  },
  {
    name: "one level is enough",
    fault: editQuestions((question) => {
      const levels = question.get("criteria");
      if (question.get("type") === "score" && Array.isArray(levels) && levels.length === 1)
        levels.push("another");
    }),
    fails: ["limits.levels"],
  },
  {
    name: "one label is enough",
    fault: editQuestions((question) => {
      const labels = question.get("criteria");
      if (question.get("type") === "choice" && labels instanceof Map && labels.size === 1)
        labels.set("another", null);
    }),
    fails: ["limits.labels"],
  },
  {
    name: "a label less at most",
    fault: {
      reply: refuseWhen((body) =>
        questionsOf(body).some(
          (q) => lengthOf(q.get("criteria")) > maxCandidates - 1 && q.get("type") === "choice",
        ),
      ),
    },
    fails: ["limits.labels", "limits.pairs"],
  },
  {
    name: "a token of a state less than the limit",
    fault: oneLess("state"),
    fails: [],
    unobserved: SPECIAL_TOKENS,
  },
  {
    name: "a token of a candidate less than the limit",
    fault: oneLess("candidate"),
    fails: [],
    unobserved: SPECIAL_TOKENS,
  },
  {
    name: "a token of a state more than the limit",
    fault: acceptWhen((_, { body }) => body.includes("too_many_tokens") && /\b2049\b/.test(body)),
    fails: ["limits.tokens.exact"],
  },
  {
    name: "a token of a candidate more than the limit",
    fault: acceptWhen((_, { body }) => body.includes("too_many_tokens") && /\b769\b/.test(body)),
    fails: ["limits.tokens.exact"],
  },
  {
    name: "candidates of a ranking without a limit of tokens",
    fault: acceptWhen(
      (body, { body: text }) =>
        text.includes("too_many_tokens") && text.includes('"candidates"') && body.has("candidates"),
    ),
    fails: ["limits.tokens.candidate", "limits.tokens.exact", "limits.tokens.never-cut"],
  },
  {
    name: "names of more than 100 characters refused",
    fault: refuseNames((name) => name.length > 100),
    fails: ["order.exact-names"],
  },
  {
    name: "empty names refused",
    fault: refuseNames((name) => name === ""),
    fails: ["json.extremes", "order.odd-names"],
  },
  {
    name: "names with a dot refused",
    fault: refuseNames((name) => name.includes(".")),
    fails: ["systemone.answers.names"],
  },
  {
    name: "integers of more than 19 digits refused",
    fault: refuseText(/[:[,]\s*-?\d{20,}\s*[,}\]]/),
    fails: ["json.extremes"],
  },
  { name: "noncharacters refused", fault: refuseText(/\uffff|\\uffff/i), fails: ["json.extremes"] },
  {
    name: "characters beyond U+FFFF refused",
    fault: refuseText(/[\u{10000}-\u{10ffff}]/u),
    fails: ["json.valid", "order.exact-names", "systemone.answers.names"],
  },
  {
    name: "escaped zeros refused",
    fault: refuseText(/\\u0000/),
    fails: ["json.extremes", "order.exact-names", "errors.code"],
  },
  {
    name: "white space around a body refused",
    fault: refuseText(/^\s|\s$/),
    fails: ["json.valid", "limits.body", "limits.body-chunked"],
  },
];
