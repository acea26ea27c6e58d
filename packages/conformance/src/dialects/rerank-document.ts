import { at, isList, show } from "../client/json.ts";
import type { Check } from "../trial/check.ts";
import { FULL_ID } from "../trial/facts.ts";
import { nonce } from "../trial/salts.ts";
import type { Trial } from "../trial/trial.ts";
import { documentCheck } from "./document-checks.ts";
import {
  bodyOf,
  COHERE,
  DOCUMENTS,
  draft,
  FORMS,
  type Form,
  inEach,
  JINA,
  QUERY,
  type Row,
  rerank,
  scoreOf,
  TEI,
} from "./rerank-requests.ts";

/** Truncation is not tested on servers that accept longer texts than this: it would take too long. Chosen. */
const MOST_CUT_TOKENS = 4096;
const UNKNOWN = { "a member that nobody knows": 1 };

/** Valid requests that other rerank services refuse. */
const ACCEPTED: readonly {
  readonly name: string;
  readonly form: Form;
  readonly texts?: readonly unknown[];
  readonly others?: object;
}[] = [
  { name: "an unknown member, Jina", form: JINA, others: UNKNOWN },
  { name: "an unknown member, TEI", form: TEI, others: UNKNOWN },
  {
    name: "objects with a text, Jina",
    form: JINA,
    texts: DOCUMENTS.map((text) => ({ text, title: "none" })),
  },
  { name: "a priority, Cohere", form: COHERE, others: { priority: 5 } },
  { name: "nulls, Cohere", form: COHERE, others: { model: null, priority: null, return_documents: null } },
  { name: "nulls, Jina", form: JINA, others: { model: null, top_n: null, max_doc_length: null } },
  { name: "nulls, TEI", form: TEI, others: { raw_scores: null, truncate: null, truncation_direction: null } },
];
const REFUSED: readonly { readonly name: string; readonly body: object }[] = [
  { name: "an unknown member", body: bodyOf(COHERE, DOCUMENTS, UNKNOWN) },
  { name: "top_n 0", body: bodyOf(COHERE, DOCUMENTS, { top_n: 0 }) },
  { name: "an object as document", body: bodyOf(COHERE, [{ text: "a" }]) },
];

/** Checks of the dialect's document beyond what every client needs. */
export const RERANK_DOCUMENT_CHECKS: readonly Check[] = [
  draft({
    id: "requests.accepted",
    clause: "Jina's and TEI's operations ignore unknown members, and all three treat null as absent.",
    expected: "the results of the request without that member",
    run: (trial: Trial) =>
      trial.each(ACCEPTED, async ({ form, texts = DOCUMENTS, others }) => {
        const plain = await rerank(trial, form, DOCUMENTS);
        const { reply, rows } = await rerank(trial, form, texts, others);
        const told = (all: readonly Row[]) => all.map(({ index, score }) => `${index}: ${score}`).join();
        trial.expect(
          told(rows) === told(plain.rows),
          `${told(rows)}, and ${told(plain.rows)} without it`,
          reply,
        );
      }),
  }),
  draft({
    id: "requests.refused",
    clause: "Cohere's operation refuses unknown members.",
    expected: "422, as for top_n 0 and for documents that are objects",
    run: (trial: Trial) =>
      trial.each(REFUSED, async ({ body }) => {
        await trial.refused(COHERE.path, body);
      }),
  }),
  draft({
    id: "options.defaults",
    clause: "Jina's operation returns texts by default, the other two only on request.",
    expected: "texts in Jina's results only",
    run: inEach(async (trial: Trial, form: Form) => {
      const { reply, rows } = await rerank(trial, form, DOCUMENTS);
      for (const { index, text } of rows) {
        const wanted = form === JINA ? DOCUMENTS[index] : undefined;
        trial.expect(text === wanted, `the text ${show(text)} of result ${index}`, reply);
      }
    }),
  }),
  draft({
    id: "options.warnings",
    clause: "Cohere's and Jina's answers have `warnings` if and only if documents were truncated.",
    expected: "a list of strings with truncation, no member without",
    run: (trial: Trial) =>
      trial.each(
        [
          { name: COHERE.name, form: COHERE, option: "max_tokens_per_doc", place: ["meta", "warnings"] },
          { name: JINA.name, form: JINA, option: "max_doc_length", place: ["warnings"] },
        ],
        async ({ form, option, place }) => {
          const whole = await rerank(trial, form, DOCUMENTS);
          trial.expect(
            at(whole.reply.json, ...place) === undefined,
            "warnings without truncation",
            whole.reply,
          );
          const { reply } = await rerank(trial, form, DOCUMENTS, { [option]: 2 });
          const warnings = at(reply.json, ...place);
          trial.expect(isList(warnings) && warnings.length > 0, `warnings are ${show(warnings)}`, reply);
          const told = reply.headers["x-cut-documents"];
          trial.expect(told === String(DOCUMENTS.length), `x-cut-documents is ${told}`, reply);
        },
      ),
  }),
  draft({
    id: "options.truncate",
    clause: "`truncate` cuts the end of a text, or its beginning with `truncation_direction` Left.",
    expected: "equal relevance of texts that differ only in the cut part, different relevance of others",
    isGentle: false,
    run: checkTruncation,
  }),
  draft({
    id: "answers.whole",
    clause: "Nothing is truncated unless the request asks for it.",
    expected: "different relevance of long documents that differ in their last word",
    isGentle: false,
    run: async (trial: Trial) => {
      const words = Math.floor((await inputLength(trial)) * 0.6);
      const long = (last: string) => `${"go ".repeat(words)}${last}`;
      for (const form of FORMS) {
        const { reply, rows } = await rerank(trial, form, [long("paris"), long("bread")]);
        const [one, other] = [scoreOf(rows, 0), scoreOf(rows, 1)];
        trial.expect(
          one !== other,
          `${one} for documents of ${words} words with different last words`,
          reply,
        );
      }
    },
  }),
  draft({
    id: "answers.facts",
    clause:
      "Cohere's `id` is the request id, Jina's `model` the served model's full id, and tokens count the same.",
    expected: "x-request-id, `<namespace>/<name>@<revision>`, one count of tokens above 0 in both answers",
    run: async (trial: Trial) => {
      // a fresh text: an equal pair in the same batch would count no tokens
      const texts = DOCUMENTS.map((text) => `${text} ${nonce()}`);
      const cohere = (await rerank(trial, COHERE, texts)).reply;
      const jina = (await rerank(trial, JINA, texts)).reply;
      const [id, own] = [at(cohere.json, "id"), cohere.headers["x-request-id"]];
      trial.expect(id === own, `id is ${show(id)}, x-request-id ${own}`, cohere);
      const model = at(jina.json, "model");
      trial.expect(FULL_ID.test(String(model)), `model is ${show(model)}`, jina);
      const tokens = at(cohere.json, "meta", "tokens", "input_tokens");
      trial.expect(Number(tokens) > 0, `input_tokens is ${show(tokens)}`, cohere);
      for (const name of ["total_tokens", "prompt_tokens"]) {
        const count = at(jina.json, "usage", name);
        trial.expect(
          count === tokens,
          `${name} is ${show(count)}, Cohere's input_tokens ${show(tokens)}`,
          jina,
        );
      }
    },
  }),
  draft({
    id: "errors.types",
    clause: "TEI's errors have one of its error types.",
    expected: "`validation` with 422, `unauthorized` with 401",
    needsInference: false,
    run: async (trial: Trial) => {
      const body = bodyOf(TEI, ["a"]);
      const cases = [
        { type: "validation", reply: await trial.post(TEI.path, bodyOf(TEI, [])) },
        ...(trial.facts.wantsKey
          ? [{ type: "unauthorized", reply: await trial.post(TEI.path, body, { hasKey: false }) }]
          : []),
      ];
      for (const { type, reply } of cases)
        trial.expect(
          at(reply.json, "error_type") === type,
          `error_type is ${show(at(reply.json, "error_type"))}`,
          reply,
        );
    },
  }),
  draft({
    id: "keys.bare",
    clause: "TEI's operation also accepts the key without `Bearer`, the others do not.",
    expected: "200 from TEI's operation, 401 from the others",
    run: async (trial: Trial) => {
      const { apiKey } = trial.target;
      if (!trial.facts.wantsKey || apiKey === undefined) trial.skip("the server wants no key");
      for (const form of FORMS) {
        const options = { hasKey: false, headers: { authorization: apiKey } };
        const reply = await trial.post(form.path, bodyOf(form, ["a"]), options);
        trial.expect(
          reply.status === (form === TEI ? 200 : 401),
          `${reply.status} from ${form.name}'s operation`,
          reply,
        );
      }
    },
  }),
  draft({
    id: "info.model",
    clause: "`/info` has the served model's id and, separately, its revision.",
    expected: "model_id without a revision; Jina's `model` is `model_id@model_sha`",
    run: async (trial: Trial) => {
      const info = await trial.get("/info");
      const named = `${String(at(info.json, "model_id"))}@${String(at(info.json, "model_sha"))}`;
      const { reply } = await rerank(trial, JINA, ["a"]);
      trial.expect(
        at(reply.json, "model") === named,
        `${named} in /info, ${show(at(reply.json, "model"))} in answers`,
        info,
      );
    },
  }),
  documentCheck("rerank", "rerank: paths", async (trial: Trial) => {
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
  for (const { direction, same, other } of [
    { direction: undefined, same: 2, other: 1 },
    { direction: "Right", same: 2, other: 1 },
    { direction: "left", same: 1, other: 2 },
  ]) {
    const { reply, rows } = await rerank(trial, TEI, texts, {
      truncate: true,
      truncation_direction: direction,
    });
    const scores = texts.map((_, index) => scoreOf(rows, index));
    trial.expect(
      scores[0] === scores[same] && scores[0] !== scores[other],
      `the scores ${scores.join()} with the direction ${direction}: text ${same} differs only in what is cut`,
      reply,
    );
    trial.expect(
      reply.headers["x-cut-documents"] === "3",
      `x-cut-documents is ${reply.headers["x-cut-documents"]}`,
      reply,
    );
  }
}
