import { at, show } from "../client/json.ts";
import type { Check } from "../trial/check.ts";
import type { Trial } from "../trial/trial.ts";
import { RERANK_DOCUMENT_CHECKS } from "./rerank-document.ts";
import {
  bodyOf,
  COHERE,
  DOCUMENTS,
  draft,
  expectError,
  FORMS,
  type Form,
  inEach,
  JINA,
  QUERY,
  type Row,
  rerank,
  SAME,
  scoreOf,
  TEI,
} from "./rerank-requests.ts";

/** Checks of the profile `rerank`: what rerank clients of Cohere, Jina and TEI need from a server. */
export const RERANK_CHECKS: readonly Check[] = [
  draft({
    id: "answers.rows",
    clause: "Each document has one result, with its position and a relevance from 0 to 1.",
    expected: "every index once, scores within 0 and 1",
    run: inEach(async (trial: Trial, form: Form) => {
      const { reply, rows } = await rerank(trial, form, DOCUMENTS);
      const indexes = rows.map(({ index }) => index).sort((a, b) => a - b);
      trial.expect(indexes.join() === "0,1,2,3", `the indexes ${indexes.join()}`, reply);
      const isInside = rows.every(({ score }) => score >= 0 && score <= 1);
      trial.expect(isInside, `the scores ${rows.map(({ score }) => score).join()}`, reply);
    }),
  }),
  draft({
    id: "answers.order",
    clause: "Results are sorted by relevance, highest first; ties keep the order of the request.",
    expected: "no score above the one before it, and no smaller index after an equal score",
    run: inEach(async (trial: Trial, form: Form) => {
      const { reply, rows } = await rerank(trial, form, [...DOCUMENTS, ...DOCUMENTS]);
      for (const [at, row] of rows.entries()) {
        const before = rows[at - 1] ?? { index: -1, score: Number.POSITIVE_INFINITY };
        const isOrdered =
          row.score < before.score || (row.score === before.score && row.index > before.index);
        trial.expect(
          isOrdered,
          `${row.index} (${row.score}) behind ${before.index} (${before.score})`,
          reply,
        );
      }
    }),
  }),
  draft({
    id: "answers.equal",
    clause: "Equal documents are allowed and have the same relevance.",
    expected: "equal scores",
    run: inEach(async (trial: Trial, form: Form) => {
      const { reply, rows } = await rerank(trial, form, DOCUMENTS);
      trial.expect(
        scoreOf(rows, 1) === scoreOf(rows, 3),
        `${scoreOf(rows, 1)} and ${scoreOf(rows, 3)}`,
        reply,
      );
    }),
  }),
  draft({
    id: "answers.independent",
    clause: "Relevance does not depend on the other documents or their order.",
    expected: "the same score alone and among others",
    run: inEach(async (trial: Trial, form: Form) => {
      const { rows } = await rerank(trial, form, DOCUMENTS.toReversed());
      for (const [index, document] of DOCUMENTS.entries()) {
        const alone = await rerank(trial, form, [document]);
        const [one, among] = [alone.rows[0]?.score ?? -1, scoreOf(rows, DOCUMENTS.length - 1 - index) ?? -2];
        trial.expect(Math.abs(one - among) <= SAME, `${one} alone and ${among} among others`, alone.reply);
      }
    }),
  }),
  draft({
    id: "answers.same",
    clause: "The three operations give a document the same relevance.",
    expected: "equal scores",
    run: async (trial: Trial) => {
      const scores: number[] = [];
      for (const form of FORMS)
        scores.push((await rerank(trial, form, DOCUMENTS.slice(0, 1))).rows[0]?.score ?? -1);
      const [first = 0] = scores;
      trial.expect(
        scores.every((score) => Math.abs(score - first) <= SAME),
        `the scores ${scores.join()}`,
      );
    },
  }),
  draft({
    id: "answers.many",
    clause: "A request has up to 1,000 documents.",
    expected: "1,000 results",
    isGentle: false,
    run: inEach(async (trial: Trial, form: Form) => {
      const many = Array.from({ length: 1_000 }, (_, at) => DOCUMENTS[at % 4]);
      const { reply, rows } = await rerank(trial, form, many);
      trial.expect(new Set(rows.map(({ index }) => index)).size === 1_000, `${rows.length} results`, reply);
    }),
  }),
  draft({
    id: "options.top-n",
    clause: "`top_n` limits the number of results of Cohere's and Jina's operations.",
    expected: "the best two for 2, all four for 9",
    run: (trial: Trial) =>
      trial.each([COHERE, JINA], async (form) => {
        const all = await rerank(trial, form, DOCUMENTS, { top_n: 9 });
        const two = await rerank(trial, form, DOCUMENTS, { top_n: 2 });
        const indexes = (rows: readonly Row[]) => rows.map(({ index }) => index).join();
        trial.expect(all.rows.length === 4, `${all.rows.length} results for 9`, all.reply);
        const isBest = indexes(two.rows) === indexes(all.rows.slice(0, 2));
        trial.expect(isBest, `the results ${indexes(two.rows)} for 2`, two.reply);
      }),
  }),
  draft({
    id: "options.texts",
    clause: "Texts are returned on request, exactly as sent.",
    expected: "its own text in each result, and none if the request declines them",
    run: inEach(async (trial: Trial, form: Form) => {
      const sent = [` ${DOCUMENTS[0]}\n`, DOCUMENTS[2]];
      const { reply, rows } = await rerank(trial, form, sent, { [form.returned.option]: true });
      for (const { index, text } of rows) trial.expect(text === sent[index], `the text ${show(text)}`, reply);
      const without = await rerank(trial, form, sent, { [form.returned.option]: false });
      const isBare = without.rows.every(({ text }) => text === undefined);
      trial.expect(isBare, "texts that the request did not ask for", without.reply);
    }),
  }),
  draft({
    id: "options.raw-scores",
    clause: "`raw_scores` returns the number whose sigmoid is the relevance.",
    expected: "1 / (1 + exp(-raw)) equal to the relevance",
    run: async (trial: Trial) => {
      const plain = await rerank(trial, TEI, DOCUMENTS);
      const raw = await rerank(trial, TEI, DOCUMENTS, { raw_scores: true });
      for (const { index, score } of raw.rows) {
        const relevance = 1 / (1 + Math.exp(-score));
        const isSame = Math.abs(relevance - (scoreOf(plain.rows, index) ?? -1)) <= SAME;
        trial.expect(
          isSame,
          `a raw score of ${score} for a relevance of ${scoreOf(plain.rows, index)}`,
          raw.reply,
        );
      }
    },
  }),
  draft({
    id: "options.cut",
    clause: "Documents are truncated only on request, and the answer has their number.",
    expected: "x-cut-documents 0 without truncation, 1 with it, and the relevance of the remaining text",
    run: async (trial: Trial) => {
      const texts = ["paris ".repeat(50), "paris"];
      const whole = await rerank(trial, COHERE, texts);
      const cut = await rerank(trial, COHERE, texts, { max_tokens_per_doc: 1 });
      for (const [{ reply }, count] of [
        [whole, "0"],
        [cut, "1"],
      ] as const) {
        const told = reply.headers["x-cut-documents"];
        trial.expect(told === count, `x-cut-documents is ${told}, not ${count}`, reply);
      }
      const [first, second] = [scoreOf(cut.rows, 0), scoreOf(cut.rows, 1)];
      trial.expect(
        first === second,
        `${first} for a truncated text and ${second} for the same text sent short`,
        cut.reply,
      );
    },
  }),
  draft({
    id: "options.null",
    clause: "An optional member that is null is treated as absent.",
    expected: "the answer to the request without it",
    run: async (trial: Trial) => {
      const nothing = { top_n: null, max_tokens_per_doc: null };
      const { reply, rows } = await rerank(trial, COHERE, DOCUMENTS, nothing);
      trial.expect(rows.length === 4, `${rows.length} results`, reply);
    },
  }),
  draft({
    id: "errors.requests",
    clause: "An invalid request gets 422, with a message in the member that the operation's clients read.",
    expected: "422 with message (Cohere), detail (Jina) or error (TEI)",
    run: inEach(async (trial: Trial, form: Form) => {
      for (const body of [
        { query: QUERY },
        { [form.texts]: DOCUMENTS },
        bodyOf(form, []),
        bodyOf(form, [1]),
        bodyOf(form, DOCUMENTS, { query: " " }),
        bodyOf(
          form,
          Array.from({ length: 1_001 }, () => "a"),
        ),
      ]) {
        expectError(trial, form, await trial.post(form.path, body), 422);
      }
    }),
  }),
  draft({
    id: "errors.keys",
    clause: "A request without a key or with a wrong one gets 401, in the operation's error format.",
    expected: "401 with message (Cohere), detail (Jina) or error (TEI)",
    needsInference: false,
    run: inEach(async (trial: Trial, form: Form) => {
      if (!trial.facts.wantsKey) trial.skip("the server requires no key");
      const body = bodyOf(form, ["a"]);
      expectError(trial, form, await trial.post(form.path, body, { hasKey: false }), 401);
      const headers = { authorization: "Bearer wrong" };
      expectError(trial, form, await trial.post(form.path, body, { hasKey: false, headers }), 401);
    }),
  }),
  draft({
    id: "info",
    clause: "`/info` describes the model and the limits, without a key.",
    expected: "model_id, max_client_batch_size of 1000, auto_truncate false, a reranker as model_type",
    needsInference: false,
    run: async (trial: Trial) => {
      const reply = await trial.get("/info", { hasKey: false });
      trial.expect(reply.status === 200, `${reply.status}`, reply);
      trial.expect(typeof at(reply.json, "model_id") === "string", "no model_id", reply);
      trial.expect(at(reply.json, "max_client_batch_size") === 1_000, "another max_client_batch_size", reply);
      trial.expect(at(reply.json, "auto_truncate") === false, "auto_truncate is not false", reply);
      trial.expect(at(reply.json, "model_type", "reranker") !== undefined, "not a reranker", reply);
    },
  }),
  ...RERANK_DOCUMENT_CHECKS,
];
