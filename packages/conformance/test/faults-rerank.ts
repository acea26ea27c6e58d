import type { OutgoingReply } from "../../../src/contract/call.ts";
import type { Fault } from "./faulty-service.ts";
import { KEY } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { edit } from "./planting.ts";
import { authorization, early, errors, header, json, letIn, refuse, statusWhere } from "./planting-http.ts";
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
  "rerank: relevance of six digits: rerank.options.raw-scores": rows((list) => {
    for (const row of list) setRelevance(row, Number(relevanceOf(row).toFixed(6)));
    return list;
  }),
  "rerank: raw_scores ignored: rerank.options.raw-scores": edit((body) => void body.delete("raw_scores")),
  "rerank: raw scores not divided by the temperature: rerank.options.raw-scores": rows(
    (list, _operation, request) => {
      if (request.get("raw_scores") === true)
        for (const row of list) setRelevance(row, relevanceOf(row) * 4.136820402388508);
      return list;
    },
  ),
  "rerank: another relevance in TEI's operation: rerank.answers.same, rerank.options.raw-scores": rows(
    (list, operation) => {
      if (operation === "teiRerank") for (const row of list) setRelevance(row, relevanceOf(row) ** 2);
      return list;
    },
  ),
  "rerank: positions from 1: rerank.answers.equal, rerank.answers.rows, rerank.options.cut, rerank.schema":
    rows((list) => {
      for (const row of list) row.set("index", Number(row.get("index")) + 1);
      return list;
    }),
  "rerank: top_n ignored: rerank.options.top-n, rerank.requests.refused": edit(
    (body) => void body.delete("top_n"),
  ),
  "rerank: top_n beyond the documents refused: rerank.options.top-n": refusing(
    "cohereRerank",
    (body) => Number(body.get("top_n")) > listOf(body).length,
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
  "rerank: Cohere's results have their documents: rerank.options.defaults": rows(
    (list, operation, request) => {
      if (operation === "cohereRerank")
        for (const row of list)
          row.set("document", new Map([["text", listOf(request)[Number(row.get("index"))] ?? ""]]));
      return list;
    },
  ),
  "rerank: Jina's results have no documents: rerank.options.defaults": rows((list, operation) => {
    if (operation === "jinaRerank") for (const row of list) row.delete("document");
    return list;
  }),
  "rerank: TEI's rows have their texts: rerank.options.defaults": rows((list, operation, request) => {
    if (operation === "teiRerank")
      for (const row of list) row.set("text", listOf(request)[Number(row.get("index"))] ?? "");
    return list;
  }),
  "rerank: documents of another result: rerank.options.defaults": rows((list) => {
    const documents = list.map((row) => row.get("document"));
    for (const [index, row] of list.entries()) {
      const other = documents[(index + 1) % list.length];
      if (other !== undefined) row.set("document", other);
    }
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
  "rerank: unknown members accepted by Cohere's operation: rerank.requests.refused": edit((body) => {
    if (body.has("documents"))
      for (const name of [...body.keys()])
        if (
          ![
            "model",
            "query",
            "documents",
            "top_n",
            "max_tokens_per_doc",
            "return_documents",
            "priority",
            "max_doc_length",
          ].includes(name)
        )
          body.delete(name);
  }),
  "rerank: unknown members refused by Jina's operation: rerank.requests.accepted": refusing(
    "jinaRerank",
    (body) =>
      [...body.keys()].some(
        (name) =>
          !["model", "query", "documents", "top_n", "return_documents", "max_doc_length"].includes(name),
      ),
  ),
  "rerank: unknown members refused by TEI's operation: rerank.requests.accepted": refusing(
    "teiRerank",
    (body) =>
      [...body.keys()].some(
        (name) =>
          !["query", "texts", "raw_scores", "return_text", "truncate", "truncation_direction"].includes(name),
      ),
  ),
  "rerank: priority refused: rerank.requests.accepted": refusing("cohereRerank", (body) =>
    body.has("priority"),
  ),
  "rerank: objects refused by Jina's operation: rerank.requests.accepted": refusing("jinaRerank", (body) =>
    listOf(body).some((one) => one instanceof Map),
  ),
  "rerank: equal documents refused: rerank.answers.equal, rerank.options.null, rerank.requests.accepted":
    refusing("cohereRerank", (body) => new Set(listOf(body)).size < listOf(body).length),
  "rerank: one document refused: rerank.answers.same, rerank.info.model": refusing(
    "jinaRerank",
    (body) => listOf(body).length === 1,
  ),
  "rerank: 1,001 documents accepted: rerank.errors.requests": edit(
    (body) => void (listOf(body).length === 1001 && listOf(body).pop()),
  ),
  "rerank: 1,001 texts accepted by TEI's operation: rerank.errors.requests": edit(
    (body) => void (body.has("texts") && listOf(body).length === 1001 && listOf(body).pop()),
  ),
  "rerank: a blank query accepted: rerank.errors.requests": edit((body) => {
    const query = body.get("query");
    if (typeof query === "string" && query.trim() === "") body.set("query", "?");
  }),
  "rerank: documents cut without being asked: rerank.answers.whole, rerank.options.truncate": edit((body) => {
    for (const [index, one] of listOf(body).entries())
      if (typeof one === "string") listOf(body)[index] = one.split(" ").slice(0, 500).join(" ");
  }),
  "rerank: no x-cut-documents: rerank.options.cut": header("x-cut-documents", () => undefined),
  "rerank: x-cut-documents always 0: rerank.options.cut": header("x-cut-documents", (value) =>
    value === undefined ? undefined : "0",
  ),
  "rerank: max_tokens_per_doc ignored: rerank.options.cut": edit(
    (body) => void body.delete("max_tokens_per_doc"),
  ),
  "rerank: no warnings of a cut: rerank.options.warnings": on.answer((body) =>
    [body, inner(body, "meta")].forEach((map) => void map.delete("warnings")),
  ),
  "rerank: truncation_direction ignored: rerank.options.truncate": edit(
    (body) => void body.delete("truncation_direction"),
  ),
  "rerank: the id is another than x-request-id: rerank.answers.facts": answer(
    "cohereRerank",
    (body) => void body.set("id", "0b8f6c1e"),
  ),
  "rerank: Jina's prompt_tokens are 0: rerank.answers.facts": answer(
    "jinaRerank",
    (body) => void inner(body, "usage").set("prompt_tokens", 0),
  ),
  "rerank: api_version 1: rerank.schema": answer(
    "cohereRerank",
    (body) => void inner(body, "meta", "api_version").set("version", "1"),
  ),
  "rerank: Jina's model is the one asked for: rerank.answers.facts, rerank.info.model": on.answer(
    (body, operation, request) => {
      if (operation === "jinaRerank") body.set("model", /"model": ?"([^"]*)"/.exec(request)?.[1] ?? "any");
    },
  ),
  "rerank: TEI's errors without a type: rerank.errors.types, rerank.schema": errors(
    (body) => void body.delete("error_type"),
  ),
  "rerank: TEI's types of errors in capitals: rerank.errors.types, rerank.schema": errors((body) => {
    if (body.has("error_type"))
      body.set(
        "error_type",
        String(body.get("error_type")).replace(/^./, (first) => first.toUpperCase()),
      );
  }),
  "rerank: Cohere's errors with a detail: rerank.errors.keys, rerank.schema": errors((body) => {
    const message = body.get("message");
    if (message === undefined) return;
    body.clear();
    body.set("detail", message);
  }),
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
  "rerank: the key alone accepted by Cohere's operation: rerank.keys.bare": on.early((request, response) =>
    request.url === "/v2/rerank"
      ? (authorization((given) => given === KEY).early?.(request, response) ?? false)
      : false,
  ),
  "rerank: the key alone refused by TEI's operation: rerank.keys.bare": early(
    ({ url, headers }) => url === "/rerank" && headers.authorization === KEY,
    (response) =>
      refuse(response, 401, '{"error":"No.","error_type":"unauthorized"}', {
        "www-authenticate": "Bearer",
      }),
  ),
  "rerank: no key needed for TEI's operation: rerank.errors.types": letIn(({ url }) => url === "/rerank"),
  "rerank: /info names another number of texts: rerank.info": json(
    "/info",
    (body) => void body.set("max_client_batch_size", 32),
  ),
  "rerank: /info says that texts are cut: rerank.info": json(
    "/info",
    (body) => void body.set("auto_truncate", true),
  ),
  "rerank: /info names the model with its revision: rerank.info.model": json(
    "/info",
    (body) => void body.set("model_id", `${String(body.get("model_id"))}@${String(body.get("model_sha"))}`),
  ),
});
