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
  expectCut,
  FORMS,
  type Form,
  inEach,
  JINA,
  QUERY,
  rerank,
  rerankChecks,
  scoreOf,
  TEI,
} from "./rerank-requests.ts";

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

/** Checks of the dialect's document beyond what every client needs. */
export const RERANK_DOCUMENT_CHECKS: readonly Check[] = [
  ...rerankChecks({
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
