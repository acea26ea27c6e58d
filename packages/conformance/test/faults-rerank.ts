import type { OutgoingReply } from "../../../src/contract/call.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { edit } from "./planting.ts";
import { early, errors, header, json, letIn, refuse, statusWhere } from "./planting-http.ts";
import { inner, readTree, type Tree, type TreeMap, writeTree } from "./tree.ts";

/** Changes the rows of an answer; TEI's answer is the list itself. */
const rows = (change: (rows: TreeMap[], operation: string, request: TreeMap) => readonly Tree[]): Fault =>
  on.reply((reply, { operationId, body }) => {
    if (reply.status !== 200 || !/Rerank$/.test(operationId)) return reply;
    const [tree, request] = [readTree(reply.body), readTree(Buffer.from(body).toString("utf8"))];
    const list = tree instanceof Map ? tree.get("results") : tree;
    if (!Array.isArray(list) || !(request instanceof Map)) return reply;
    const changed = [
      ...change(
        list.filter((row): row is TreeMap => row instanceof Map),
        operationId,
        request,
      ),
    ];
    if (tree instanceof Map) tree.set("results", changed);
    return { ...reply, body: writeTree(tree instanceof Map ? tree : changed) };
  });
const relevanceOf = (row: TreeMap) => Number(row.get("relevance_score") ?? row.get("score"));
const setRelevance = (row: TreeMap, value: number) =>
  void row.set(row.has("score") ? "score" : "relevance_score", value);
const answer = (operation: string, change: (body: TreeMap) => void): Fault =>
  on.answer((body, of) => void (of === operation && change(body)));
/** An answer of 200 refused. */
const refusing = (operation: string, isRefused: (body: TreeMap) => boolean): Fault =>
  on.reply((reply, { operationId, body }) => {
    const tree = operationId === operation ? readTree(Buffer.from(body).toString("utf8")) : null;
    if (reply.status !== 200 || !(tree instanceof Map) || !isRefused(tree)) return reply;
    return { ...reply, status: 422, body: FAILURES[operation] ?? "" } satisfies OutgoingReply;
  });
const FAILURES: Readonly<Record<string, string>> = {
  cohereRerank: '{"message":"No."}',
  jinaRerank: '{"detail":"No."}',
  teiRerank: '{"error":"No.","error_type":"validation"}',
};
const listOf = (body: TreeMap): Tree[] => {
  const list = body.get("documents") ?? body.get("texts");
  return Array.isArray(list) ? list : [];
};

/** Faults of the rerank operations. */
export const RERANK_FAULTS: readonly PlantedFault[] = faults({
  "rerank: results in the order of the request: rerank.answers.order, rerank.options.top-n": rows((list) =>
    list.toSorted((a, b) => Number(a.get("index")) - Number(b.get("index"))),
  ),
  "rerank: equal documents turned around: rerank.answers.order": rows((list) =>
    list.toReversed().sort((a, b) => relevanceOf(b) - relevanceOf(a)),
  ),
  "rerank: relevance among the documents of the request: rerank.answers.independent, rerank.options.raw-scores":
    rows((list) => {
      const sum = list.reduce((all, row) => all + relevanceOf(row), 0);
      for (const row of list) setRelevance(row, relevanceOf(row) / sum);
      return list;
    }),
  "rerank: raw_scores ignored: rerank.options.raw-scores": edit((body) => void body.delete("raw_scores")),
  "rerank: positions from 1: rerank.answers.equal, rerank.answers.rows, rerank.options.cut, rerank.schema":
    rows((list) => {
      for (const row of list) row.set("index", Number(row.get("index")) + 1);
      return list;
    }),
  "rerank: top_n ignored: rerank.options.top-n, rerank.requests.refused": edit(
    (body) => void body.delete("top_n"),
  ),
  "rerank: a null top_n refused: rerank.options.null": refusing(
    "cohereRerank",
    (body) => body.get("top_n") === null,
  ),
  "rerank: ten results at most: rerank.answers.many": rows((list) => list.slice(0, 10)),
  "rerank: 999 documents at most: rerank.answers.many": refusing(
    "cohereRerank",
    (body) => listOf(body).length > 999,
  ),
  "rerank: Jina's results have no documents: rerank.options.defaults": rows((list, operation) => {
    if (operation === "jinaRerank") for (const row of list) row.delete("document");
    return list;
  }),
  "rerank: documents returned trimmed: rerank.options.texts": rows((list) => {
    for (const row of list) {
      const document = inner(row, "document");
      if (document.has("text")) document.set("text", String(document.get("text")).trim());
      if (row.has("text")) row.set("text", String(row.get("text")).trim());
    }
    return list;
  }),
  "rerank: objects refused by Jina's operation: rerank.requests.accepted": refusing("jinaRerank", (body) =>
    listOf(body).some((one) => one instanceof Map),
  ),
  "rerank: equal documents refused: rerank.answers.equal, rerank.options.null, rerank.requests.accepted":
    refusing("cohereRerank", (body) => new Set(listOf(body)).size < listOf(body).length),
  "rerank: one document refused: rerank.answers.same, rerank.info.model": refusing(
    "jinaRerank",
    (body) => listOf(body).length === 1,
  ),
  "rerank: 1,001 texts accepted by TEI's operation: rerank.errors.requests": edit(
    (body) => void (body.has("texts") && listOf(body).length === 1001 && listOf(body).pop()),
  ),
  "rerank: documents cut without being asked: rerank.answers.whole, rerank.options.truncate": edit((body) => {
    for (const [index, one] of listOf(body).entries())
      if (typeof one === "string") listOf(body)[index] = one.split(" ").slice(0, 500).join(" ");
  }),
  "rerank: no x-cut-documents: rerank.options.cut": header("x-cut-documents", () => undefined),
  "rerank: no warnings of a cut: rerank.options.warnings": on.answer((body) =>
    [body, inner(body, "meta")].forEach((map) => void map.delete("warnings")),
  ),
  "rerank: truncation_direction ignored: rerank.options.truncate": edit(
    (body) => void body.delete("truncation_direction"),
  ),
  "rerank: Jina's prompt_tokens are 0: rerank.answers.facts": answer(
    "jinaRerank",
    (body) => void inner(body, "usage").set("prompt_tokens", 0),
  ),
  "rerank: TEI's errors without a type: rerank.errors.types, rerank.schema": errors(
    (body) => void body.delete("error_type"),
  ),
  "rerank: Jina's errors as a list: rerank.errors.keys, rerank.schema": errors((body, _answer, request) => {
    if (request.url === "/v1/rerank") body.set("detail", [String(body.get("detail"))]);
  }),
  "rerank: 400 for an invalid request: rerank.errors.requests, rerank.requests.refused, rerank.schema":
    statusWhere(422, 400),
  "rerank: 403 without a key: rerank.errors.keys, rerank.keys.bare, rerank.schema": statusWhere(401, 403),
  "rerank: /info asks for a key: rerank.info, rerank.schema": early(
    ({ url, headers }) => url === "/info" && headers.authorization === undefined,
    (response) => refuse(response, 401, undefined, { "www-authenticate": "Bearer" }),
  ),
  "rerank: /info without the kind of the model: rerank.info, rerank.schema": json(
    "/info",
    (body) => void body.delete("model_type"),
  ),
  "rerank: no key needed for TEI's operation: rerank.errors.types": letIn(({ url }) => url === "/rerank"),
});
