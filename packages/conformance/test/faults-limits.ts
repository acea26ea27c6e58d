import type { IncomingMessage, ServerResponse } from "node:http";
import type { OutgoingReply } from "../../../src/contract/call.ts";
import { REQUEST_LIMITS } from "../../../src/decisions/request.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { pairsOf, questionsOf, refuseWhen, refusing, showing } from "./planting.ts";
import { early, refuse } from "./planting-http.ts";
import { inner, mapsIn, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

const SPECIAL_TOKENS =
  "The number of special tokens of a pair, and that token limits and `input_tokens` count them.";
const { maxBodyBytes: MAX_BYTES, maxPairs } = REQUEST_LIMITS;
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
    "no questions at all answered: limits.questions, request.unknown-field": acceptWhen(
      (body) => body.get("questions") instanceof Map && inner(body, "questions").size === 0,
      (answer) => inner(answer, "answers").clear(),
    ),
    "yes/no questions not counted as pairs: limits.pairs-refused": acceptWhen((body, { body: text }) => {
      const nouls = questionsOf(body).filter((question) => question.get("type") === "noul");
      return text.includes("too_many_pairs") && pairsOf(body) - 2 * nouls.length <= maxPairs;
    }),
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
