import { at } from "../client/json.ts";
import type { Check } from "../trial/check.ts";
import type { Trial } from "../trial/trial.ts";
import { RERANK_DOCUMENT_CHECKS } from "./rerank-document.ts";
import {
  bodyOf,
  COHERE,
  DOCUMENTS,
  expectCut,
  expectError,
  FORMS,
  inEach,
  JINA,
  QUERY,
  type Row,
  rerank,
  rerankChecks,
  SAME,
  scoreOf,
  TEI,
} from "./rerank-requests.ts";

const indexesOf = (rows: readonly Row[]) => rows.map(({ index }) => index).join();

/** Checks of the profile `rerank`: what rerank clients of Cohere, Jina and TEI need from a server. */
export const RERANK_CHECKS: readonly Check[] = [
  ...rerankChecks({
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
  }),
  ...RERANK_DOCUMENT_CHECKS,
];
