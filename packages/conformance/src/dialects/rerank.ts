import type { Reply } from "../client/exchange.ts";
import { at, isList, type Json, show } from "../client/json.ts";
import { type Check, dialectChecks } from "../trial/check.ts";
import { FULL_ID } from "../trial/facts.ts";
import { nonce } from "../trial/salts.ts";
import type { Trial } from "../trial/trial.ts";
import { documentCheck } from "./document-checks.ts";

const QUERY = "What is the capital of the United States?";
const DOCUMENTS = [
  "Carson City is the capital city of the American state of Nevada.",
  "Washington, D.C. is the capital of the United States. It is a federal district.",
  "Bread is made of flour, water, salt and yeast.",
  "Washington, D.C. is the capital of the United States. It is a federal district.",
];
/** Tolerance: another batch may sum in another order. */
const SAME = 1e-9;

/** The names that an operation gives to the members that all three have. */
interface Form {
  readonly name: string;
  readonly path: string;
  readonly texts: string;
  readonly score: string;
  /** The member with the results; undefined if the answer itself is the list. */
  readonly results?: string;
  readonly returned: { readonly option: string; readonly path: readonly string[] };
  readonly error: string;
}

const COHERE: Form = {
  name: "Cohere",
  path: "/v2/rerank",
  texts: "documents",
  score: "relevance_score",
  results: "results",
  returned: { option: "return_documents", path: ["document", "text"] },
  error: "message",
};
const JINA: Form = { ...COHERE, name: "Jina", path: "/v1/rerank", error: "detail" };
const TEI: Form = {
  name: "TEI",
  path: "/rerank",
  texts: "texts",
  score: "score",
  returned: { option: "return_text", path: ["text"] },
  error: "error",
};
const FORMS = [COHERE, JINA, TEI];

/** The smallest request. It shows whether a server requires a key. */
export const RERANK_REQUEST = { path: COHERE.path, body: { model: "any", query: QUERY, documents: ["a"] } };

interface Row {
  readonly index: number;
  readonly score: number;
  readonly text: Json | undefined;
}

const bodyOf = (form: Form, texts: readonly unknown[], others: object = {}) => ({
  ...(form === TEI ? {} : { model: "any" }),
  query: QUERY,
  [form.texts]: texts,
  ...others,
});

/** Sends a request, which must succeed, and returns its rows in the answer's order. */
async function rerank(trial: Trial, form: Form, texts: readonly unknown[] = DOCUMENTS, others: object = {}) {
  const reply = await trial.post(form.path, bodyOf(form, texts, others));
  if (reply.status === 503 || reply.status === 429) trial.skip("the server's queue is full");
  trial.status(reply, 200);
  const list = form.results === undefined ? reply.json : at(reply.json, form.results);
  if (!isList(list)) return trial.fail(`no list of results: ${show(reply.json)}`, reply);
  const rows = list.map((row): Row => {
    const [index, score] = [at(row, "index"), at(row, form.score)];
    if (typeof index !== "number" || typeof score !== "number")
      return trial.fail(`a result ${show(row)} without index or ${form.score}`, reply);
    return { index, score, text: at(row, ...form.returned.path) };
  });
  return { reply, rows };
}

const scoreOf = (rows: readonly Row[], wanted: number) => rows.find(({ index }) => index === wanted)?.score;

function expectError(trial: Trial, form: Form, reply: Reply, status: number): void {
  trial.status(reply, status);
  const told = at(reply.json, form.error);
  trial.expect(typeof told === "string" && told !== "", `${form.error} is ${show(told)}`, reply);
}

/** Expects the header that counts truncated documents. */
function expectCut(trial: Trial, reply: Reply, count: number): void {
  trial.equal("x-cut-documents", reply.headers["x-cut-documents"], String(count), reply);
}

const inEach = (run: (trial: Trial, form: Form) => Promise<unknown>) => (trial: Trial) =>
  trial.each(FORMS, (form) => run(trial, form));

const indexesOf = (rows: readonly Row[]) => rows.map(({ index }) => index).join();

/** Truncation is not tested on servers that accept longer texts than this: it would take too long. Chosen. */
const MOST_CUT_TOKENS = 4096;
const UNKNOWN = { "a member that nobody knows": 1 };

/** Valid requests that other rerank services refuse. */
const ACCEPTED: Readonly<Record<string, { form: Form; texts?: readonly unknown[]; others?: object }>> = {
  "an unknown member, Jina": { form: JINA, others: UNKNOWN },
  "an unknown member, TEI": { form: TEI, others: UNKNOWN },
  "objects with a text, Jina": { form: JINA, texts: DOCUMENTS.map((text) => ({ text, title: "none" })) },
  "a priority, Cohere": { form: COHERE, others: { priority: 5 } },
  "nulls, Cohere": { form: COHERE, others: { model: null, priority: null, return_documents: null } },
  "nulls, Jina": { form: JINA, others: { model: null, top_n: null, max_doc_length: null } },
  "nulls, TEI": { form: TEI, others: { raw_scores: null, truncate: null, truncation_direction: null } },
};

/** Checks of the profile `rerank`: what rerank clients of Cohere, Jina and TEI need from a server, and its document. */
export const RERANK_CHECKS: readonly Check[] = [
  ...dialectChecks("rerank", "paths", {
    "answers.rows": {
      clause: "Each document has one result, with its position and a relevance from 0 to 1.",
      expected: "every index once, scores within 0 and 1",
      run: inEach(async (trial: Trial, form) => {
        const { reply, rows } = await rerank(trial, form);
        const byIndex = rows.toSorted((one, other) => one.index - other.index);
        trial.equal("the list of positions", indexesOf(byIndex), "0,1,2,3", reply);
        const isInside = rows.every(({ score }) => score >= 0 && score <= 1);
        trial.expect(isInside, `the scores ${rows.map(({ score }) => score).join()}`, reply);
      }),
    },
    "answers.order": {
      clause: "Results are sorted by relevance, highest first; ties keep the order of the request.",
      expected: "no score above the one before it, and no smaller index after an equal score",
      run: inEach(async (trial, form) => {
        const { reply, rows } = await rerank(trial, form, [...DOCUMENTS, ...DOCUMENTS]);
        const sorted = rows.toSorted((one, other) => other.score - one.score || one.index - other.index);
        trial.equal("the order", indexesOf(rows), indexesOf(sorted), reply);
      }),
    },
    "answers.equal": {
      clause: "Equal documents are allowed and have the same relevance.",
      expected: "equal scores",
      run: inEach(async (trial, form) => {
        const { reply, rows } = await rerank(trial, form);
        trial.equal("the second score", scoreOf(rows, 3), scoreOf(rows, 1), reply);
      }),
    },
    "answers.independent": {
      clause: "Relevance does not depend on the other documents or their order.",
      expected: "the same score alone and among others",
      run: inEach(async (trial: Trial, form) => {
        const { rows } = await rerank(trial, form, DOCUMENTS.toReversed());
        for (const [index, document] of DOCUMENTS.entries()) {
          const alone = await rerank(trial, form, [document]);
          const [one, among] = [
            alone.rows[0]?.score ?? -1,
            scoreOf(rows, DOCUMENTS.length - 1 - index) ?? -2,
          ];
          trial.expect(Math.abs(one - among) <= SAME, `${one} alone and ${among} among others`, alone.reply);
        }
      }),
    },
    "answers.same": {
      clause: "The three operations give a document the same relevance.",
      expected: "equal scores",
      run: async (trial: Trial) => {
        const scores: number[] = [];
        for (const form of FORMS)
          scores.push((await rerank(trial, form, DOCUMENTS.slice(0, 1))).rows[0]?.score ?? -1);
        const isSame = scores.every((score) => Math.abs(score - (scores[0] ?? 0)) <= SAME);
        trial.expect(isSame, `the scores ${scores.join()}`);
      },
    },
    "answers.many": {
      clause: "A request has up to 1,000 documents.",
      expected: "1,000 results",
      isGentle: false,
      run: inEach(async (trial, form) => {
        const many = Array.from({ length: 1_000 }, (_, index) => DOCUMENTS[index % 4]);
        const { reply, rows } = await rerank(trial, form, many);
        trial.equal("the number of results", new Set(rows.map(({ index }) => index)).size, 1_000, reply);
      }),
    },
    "options.top-n": {
      clause: "`top_n` limits the number of results of Cohere's and Jina's operations.",
      expected: "the best two for 2, all four for 9",
      run: (trial) =>
        trial.each([COHERE, JINA], async (form) => {
          const all = await rerank(trial, form, DOCUMENTS, { top_n: 9 });
          const two = await rerank(trial, form, DOCUMENTS, { top_n: 2 });
          trial.equal("the number of results for 9", all.rows.length, 4, all.reply);
          trial.equal("the result for 2", indexesOf(two.rows), indexesOf(all.rows.slice(0, 2)), two.reply);
        }),
    },
    "options.texts": {
      clause: "Texts are returned on request, exactly as sent.",
      expected: "its own text in each result, and none if the request declines them",
      run: inEach(async (trial, form) => {
        const sent = [` ${DOCUMENTS[0]}\n`, DOCUMENTS[2]];
        for (const isAsked of [true, false]) {
          const { reply, rows } = await rerank(trial, form, sent, { [form.returned.option]: isAsked });
          for (const { index, text } of rows)
            trial.equal("the text", text, isAsked ? sent[index] : undefined, reply);
        }
      }),
    },
    "options.raw-scores": {
      clause: "`raw_scores` returns the number whose sigmoid is the relevance.",
      expected: "1 / (1 + exp(-raw)) equal to the relevance",
      run: async (trial: Trial) => {
        const plain = await rerank(trial, TEI);
        const raw = await rerank(trial, TEI, DOCUMENTS, { raw_scores: true });
        for (const { index, score } of raw.rows) {
          const relevance = scoreOf(plain.rows, index) ?? -1;
          const isSame = Math.abs(1 / (1 + Math.exp(-score)) - relevance) <= SAME;
          trial.expect(isSame, `a raw score of ${score} for a relevance of ${relevance}`, raw.reply);
        }
      },
    },
    "options.cut": {
      clause: "Documents are truncated only on request, and the answer has their number.",
      expected: "x-cut-documents 0 without truncation, 1 with it, and the relevance of the remaining text",
      run: async (trial) => {
        const texts = ["paris ".repeat(50), "paris"];
        expectCut(trial, (await rerank(trial, COHERE, texts)).reply, 0);
        const { reply, rows } = await rerank(trial, COHERE, texts, { max_tokens_per_doc: 1 });
        expectCut(trial, reply, 1);
        trial.equal("the score of the truncated text", scoreOf(rows, 0), scoreOf(rows, 1), reply);
      },
    },
    "options.null": {
      clause: "An optional member that is null is treated as absent.",
      expected: "the answer to the request without it",
      run: async (trial) => {
        const nothing = { top_n: null, max_tokens_per_doc: null };
        const { reply, rows } = await rerank(trial, COHERE, DOCUMENTS, nothing);
        trial.equal("the number of results", rows.length, 4, reply);
      },
    },
    "errors.requests": {
      clause: "An invalid request gets 422, with a message in the member that the operation's clients read.",
      expected: "422 with message (Cohere), detail (Jina) or error (TEI)",
      run: inEach(async (trial, form) => {
        const many = Array.from({ length: 1_001 }, () => "a");
        for (const body of [
          { query: QUERY },
          { [form.texts]: DOCUMENTS },
          bodyOf(form, []),
          bodyOf(form, [1]),
          bodyOf(form, DOCUMENTS, { query: " " }),
          bodyOf(form, many),
        ])
          expectError(trial, form, await trial.post(form.path, body), 422);
      }),
    },
    "errors.keys": {
      clause: "A request without a key or with a wrong one gets 401, in the operation's error format.",
      expected: "401 with message (Cohere), detail (Jina) or error (TEI)",
      needsInference: false,
      run: inEach(async (trial, form) => {
        if (!trial.facts.wantsKey) trial.skip("the server requires no key");
        for (const authorization of [undefined, "Bearer wrong"]) {
          const options = { hasKey: false, headers: { authorization } };
          expectError(trial, form, await trial.post(form.path, bodyOf(form, ["a"]), options), 401);
        }
      }),
    },
    info: {
      clause: "`/info` describes the model and the limits, without a key.",
      expected: "model_id, max_client_batch_size of 1000, auto_truncate false, a reranker as model_type",
      needsInference: false,
      run: async (trial: Trial) => {
        const reply = await trial.get("/info", { hasKey: false });
        trial.status(reply, 200);
        trial.expect(typeof at(reply.json, "model_id") === "string", "no model_id", reply);
        trial.equal("max_client_batch_size", at(reply.json, "max_client_batch_size"), 1_000, reply);
        trial.equal("auto_truncate", at(reply.json, "auto_truncate"), false, reply);
        trial.expect(at(reply.json, "model_type", "reranker") !== undefined, "not a reranker", reply);
      },
    },
    "requests.accepted": {
      clause: "Jina's and TEI's operations ignore unknown members, and all three treat null as absent.",
      expected: "the results of the request without that member",
      run: (trial) =>
        trial.eachOf(ACCEPTED, async ({ form, texts, others }) => {
          const plain = await rerank(trial, form);
          const { reply, rows } = await rerank(trial, form, texts, others);
          const told = (all: typeof rows) => all.map(({ index, score }) => `${index}: ${score}`).join();
          trial.equal("the ranking", told(rows), told(plain.rows), reply);
        }),
    },
    "requests.refused": {
      clause: "Cohere's operation refuses unknown members.",
      expected: "422, as for top_n 0 and for documents that are objects",
      run: (trial) =>
        trial.eachOf(
          {
            "an unknown member": bodyOf(COHERE, DOCUMENTS, UNKNOWN),
            "top_n 0": bodyOf(COHERE, DOCUMENTS, { top_n: 0 }),
            "an object as document": bodyOf(COHERE, [{ text: "a" }]),
          },
          (body) => trial.refused(COHERE.path, body),
        ),
    },
    "options.defaults": {
      clause: "Jina's operation returns texts by default, the other two only on request.",
      expected: "texts in Jina's results only",
      run: inEach(async (trial, form) => {
        const { reply, rows } = await rerank(trial, form);
        for (const { index, text } of rows)
          trial.equal(
            `the text of result ${index}`,
            text,
            form === JINA ? DOCUMENTS[index] : undefined,
            reply,
          );
      }),
    },
    "options.warnings": {
      clause: "Cohere's and Jina's answers have `warnings` if and only if documents were truncated.",
      expected: "a list of strings with truncation, no member without",
      run: (trial: Trial) =>
        trial.eachOf(
          {
            Cohere: { form: COHERE, option: "max_tokens_per_doc", place: ["meta", "warnings"] },
            Jina: { form: JINA, option: "max_doc_length", place: ["warnings"] },
          },
          async ({ form, option, place }) => {
            const whole = (await rerank(trial, form)).reply;
            trial.equal("the warning without truncation", at(whole.json, ...place), undefined, whole);
            const { reply } = await rerank(trial, form, DOCUMENTS, { [option]: 2 });
            const warnings = at(reply.json, ...place);
            trial.expect(isList(warnings) && warnings.length > 0, `warnings are ${show(warnings)}`, reply);
            expectCut(trial, reply, DOCUMENTS.length);
          },
        ),
    },
    "options.truncate": {
      clause: "`truncate` cuts the end of a text, or its beginning with `truncation_direction` Left.",
      expected: "equal relevance of texts that differ only in the cut part, different relevance of others",
      isGentle: false,
      run: checkTruncation,
    },
    "answers.whole": {
      clause: "Nothing is truncated unless the request asks for it.",
      expected: "different relevance of long documents that differ in their last word",
      isGentle: false,
      run: async (trial: Trial) => {
        const words = Math.floor((await inputLength(trial)) * 0.6);
        const long = (last: string) => `${"go ".repeat(words)}${last}`;
        for (const form of FORMS) {
          const { reply, rows } = await rerank(trial, form, [long("paris"), long("bread")]);
          const [one, other] = [scoreOf(rows, 0), scoreOf(rows, 1)];
          trial.expect(one !== other, `${one} for documents of ${words} words with other last words`, reply);
        }
      },
    },
    "answers.facts": {
      clause:
        "Cohere's `id` is the request id, Jina's `model` the served model's full id, and tokens count the same.",
      expected: "x-request-id, `<namespace>/<name>@<revision>`, one count of tokens above 0 in both answers",
      run: async (trial: Trial) => {
        // a fresh text: an equal pair in the same batch would count no tokens
        const texts = DOCUMENTS.map((text) => `${text} ${nonce()}`);
        const cohere = (await rerank(trial, COHERE, texts)).reply;
        const jina = (await rerank(trial, JINA, texts)).reply;
        trial.equal("id", at(cohere.json, "id"), cohere.headers["x-request-id"], cohere);
        const model = at(jina.json, "model");
        trial.expect(FULL_ID.test(String(model)), `model is ${show(model)}`, jina);
        const tokens = at(cohere.json, "meta", "tokens", "input_tokens");
        trial.expect(Number(tokens) > 0, `input_tokens is ${show(tokens)}`, cohere);
        for (const name of ["total_tokens", "prompt_tokens"])
          trial.equal(name, at(jina.json, "usage", name), tokens, jina);
      },
    },
    "errors.types": {
      clause: "TEI's errors have one of its error types.",
      expected: "`validation` with 422, `unauthorized` with 401",
      needsInference: false,
      run: async (trial) => {
        if (trial.facts.noInference === undefined) {
          const invalid = await trial.post(TEI.path, bodyOf(TEI, []));
          trial.equal("error_type", at(invalid.json, "error_type"), "validation", invalid);
        }
        if (!trial.facts.wantsKey) return;
        const keyless = await trial.post(TEI.path, bodyOf(TEI, ["a"]), { hasKey: false });
        trial.equal("error_type", at(keyless.json, "error_type"), "unauthorized", keyless);
      },
    },
    "keys.bare": {
      clause: "TEI's operation also accepts the key without `Bearer`, the others do not.",
      expected: "200 from TEI's operation, 401 from the others",
      run: async (trial) => {
        const { apiKey } = trial.target;
        if (!trial.facts.wantsKey || apiKey === undefined) trial.skip("the server wants no key");
        for (const form of FORMS) {
          const options = { hasKey: false, headers: { authorization: apiKey } };
          trial.status(await trial.post(form.path, bodyOf(form, ["a"]), options), form === TEI ? 200 : 401);
        }
      },
    },
    "info.model": {
      clause: "`/info` has the served model's id and, separately, its revision.",
      expected: "model_id without a revision; Jina's `model` is `model_id@model_sha`",
      run: async (trial) => {
        const info = await trial.get("/info");
        const named = `${String(at(info.json, "model_id"))}@${String(at(info.json, "model_sha"))}`;
        const { reply } = await rerank(trial, JINA, ["a"]);
        trial.equal("the model of /info", named, at(reply.json, "model"), info);
      },
    },
  }),
  ...documentCheck("rerank", "paths", async (trial) => {
    await trial.get("/info");
    for (const form of FORMS) {
      await trial.post(form.path, bodyOf(form, DOCUMENTS));
      await trial.post(form.path, { query: QUERY });
      await trial.post(form.path, bodyOf(form, ["a"]), { hasKey: false });
    }
  }),
];

async function inputLength(trial: Trial): Promise<number> {
  const length = at((await trial.get("/info")).json, "max_input_length");
  if (typeof length !== "number" || length > MOST_CUT_TOKENS)
    trial.skip(`max_input_length is ${show(length)}: no text of that length is tried`);
  return length;
}

async function checkTruncation(trial: Trial): Promise<void> {
  const middle = " go".repeat(Math.ceil((await inputLength(trial)) * 1.1));
  const texts = [`paris${middle} paris`, `bread${middle} paris`, `paris${middle} bread`];
  for (const [direction, same, other] of [
    [undefined, 2, 1],
    ["Right", 2, 1],
    ["left", 1, 2],
  ] as const) {
    const options = { truncate: true, truncation_direction: direction };
    const { reply, rows } = await rerank(trial, TEI, texts, options);
    const scores = texts.map((_, index) => scoreOf(rows, index));
    trial.expect(
      scores[0] === scores[same] && scores[0] !== scores[other],
      `the scores ${scores.join()} with the direction ${direction}: text ${same} differs only in what is cut`,
      reply,
    );
    expectCut(trial, reply, 3);
  }
}
