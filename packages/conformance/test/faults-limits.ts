import type { IncomingMessage, ServerResponse } from "node:http";
import type { OutgoingReply } from "../../../src/contract/call.ts";
import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import {
  edit,
  editQuestions,
  lengthOf,
  pairsOf,
  questionsOf,
  refuseWhen,
  refusing,
  showing,
} from "./planting.ts";
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
): Fault =>
  on.reply(async (reply, { body, operationId }, again) => {
    if (reply.status !== 422) return reply;
    const tree = read(body);
    if (tree === undefined || !isAccepted(tree, reply)) return reply;
    const answered = await again(small(operationId));
    const answer = readTree(answered.body);
    if (answer instanceof Map) finish(answer);
    return { ...answered, body: writeTree(answer) };
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
const refuseNames = (isRefused: (name: string) => boolean): Fault =>
  refusing((body) => mapsIn(body).some((map) => [...map.keys()].some(isRefused)));
const refuseText = (pattern: RegExp): Fault =>
  on.reply((reply, call, again) =>
    pattern.test(Buffer.from(call.body).toString("utf8"))
      ? refuseWhen(() => true)(reply, call, again)
      : reply,
  );

/** Wrong limits, and bodies that are wrongly refused or accepted. */
export const LIMIT_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "the largest body refused: limits.body": early(
      (r) => isInference(r) && announced(r) === MAX_BYTES,
      tooLarge,
    ),
    "a body of a byte too many accepted: limits.body": on.early((request, response) => {
      if (!isInference(request) || announced(request) !== MAX_BYTES + 1) return false;
      takeWhole(request, response, () => true);
      return true;
    }),
    "bodies without a length are not bounded: limits.body-chunked": on.early((request, response) => {
      if (!isInference(request) || request.headers["transfer-encoding"] === undefined) return false;
      takeWhole(request, response, () => true);
      return true;
    }),
    "the size of a body counted in characters: limits.body-bytes": on.early((request, response) => {
      if (!isInference(request) || !(announced(request) > MAX_BYTES)) return false;
      takeWhole(request, response, (body) => body.toString("utf8").length <= MAX_BYTES);
      return true;
    }),
    "a size that is announced refused when the body has come: limits.body-announced": on.early(
      (request, response) => {
        if (!isInference(request) || !(announced(request) > MAX_BYTES)) return false;
        request.resume();
        request.on("end", () => tooLarge(response));
        return true;
      },
    ),
    "99 levels of nesting at most: limits.nesting": refusing((body) => depthOf(body) === 100),
    "101 levels of nesting accepted: limits.nesting": acceptWhen((body) => depthOf(body) === 101),
    "nesting of arrays not counted: limits.nesting": acceptWhen(
      (body, { body: text }) =>
        text.includes("nesting_too_deep") && [body.get("state"), body.get("question")].some(Array.isArray),
    ),
    "no questions at all answered: limits.questions, request.unknown-field": acceptWhen(
      (body) => body.get("questions") instanceof Map && inner(body, "questions").size === 0,
      (answer) => inner(answer, "answers").clear(),
    ),
    "yes/no questions not counted as pairs: limits.pairs-refused": acceptWhen((body, { body: text }) => {
      const nouls = questionsOf(body).filter((question) => question.get("type") === "noul");
      return text.includes("too_many_pairs") && pairsOf(body) - 2 * nouls.length <= maxPairs;
    }),
    "a candidate too many accepted: limits.candidates": edit((body) => {
      for (const name of ["candidates", "answers"]) {
        const given = body.get(name);
        if (Array.isArray(given) && given.length === maxCandidates + 1) given.pop();
        if (given instanceof Map && given.size === maxCandidates + 1)
          given.delete([...given.keys()].at(-1) ?? "");
      }
    }),
    "one level is enough: limits.levels": editQuestions((question) => {
      const levels = question.get("criteria");
      if (question.get("type") === "score" && Array.isArray(levels) && levels.length === 1)
        levels.push("another");
    }),
    "one label is enough: limits.labels": editQuestions((question) => {
      const labels = question.get("criteria");
      if (question.get("type") === "choice" && labels instanceof Map && labels.size === 1)
        labels.set("another", null);
    }),
    "a label less at most: limits.labels": refusing((body) =>
      questionsOf(body).some(
        (q) => lengthOf(q.get("criteria")) > maxCandidates - 1 && q.get("type") === "choice",
      ),
    ),
    "a token of a state more than the limit: limits.tokens.exact": acceptWhen(
      (_, { body }) => body.includes("too_many_tokens") && /\b2049\b/.test(body),
    ),
    "a token of a candidate more than the limit: limits.tokens.exact": acceptWhen(
      (_, { body }) => body.includes("too_many_tokens") && /\b769\b/.test(body),
    ),
    "candidates of a ranking without a limit of tokens: limits.tokens.candidate": acceptWhen(
      (body, { body: text }) =>
        text.includes("too_many_tokens") && text.includes('"candidates"') && body.has("candidates"),
    ),
    "names of more than 100 characters refused: order.exact-names": refuseNames((name) => name.length > 100),
    "empty names refused: json.extremes, order.odd-names": refuseNames((name) => name === ""),
    "names with a dot refused: systemone.answers.names": refuseNames((name) => name.includes(".")),
    "integers of more than 19 digits refused: json.extremes": refuseText(/[:[,]\s*-?\d{20,}\s*[,}\]]/),
    "noncharacters refused: json.extremes": refuseText(/\uffff|\\uffff/i),
    "characters beyond U+FFFF refused: json.valid, order.exact-names, systemone.answers.names":
      refuseText(/[\u{10000}-\u{10ffff}]/u),
    "escaped zeros refused: json.extremes, order.exact-names, errors.code": refuseText(/\\u0000/),
    "white space around a body refused: json.valid, limits.body-chunked": refuseText(/^\s|\s$/),
  }),
  ...faults(
    {
      "a token of a state less than the limit": oneLess("state"),
    },
    { unobserved: SPECIAL_TOKENS },
  ),
  ...faults(
    {
      "a token of a candidate less than the limit": oneLess("candidate"),
    },
    {
      unobserved: SPECIAL_TOKENS,
    },
  ),
];
