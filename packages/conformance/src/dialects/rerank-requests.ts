import type { Reply } from "../client/exchange.ts";
import { at, isList, type Json, show } from "../client/json.ts";
import { type Check, type Drafts, dialectChecks } from "../trial/check.ts";
import type { Trial } from "../trial/trial.ts";

export const QUERY = "What is the capital of the United States?";
export const DOCUMENTS = [
  "Carson City is the capital city of the American state of Nevada.",
  "Washington, D.C. is the capital of the United States. It is a federal district.",
  "Bread is made of flour, water, salt and yeast.",
  "Washington, D.C. is the capital of the United States. It is a federal district.",
];
/** Tolerance: another batch may sum in another order. */
export const SAME = 1e-9;

/** The names that an operation gives to the members that all three have. */
export interface Form {
  readonly name: string;
  readonly path: string;
  readonly texts: string;
  readonly score: string;
  /** The member with the results; undefined if the answer itself is the list. */
  readonly results?: string;
  readonly returned: { readonly option: string; readonly path: readonly string[] };
  readonly error: string;
}

export const COHERE: Form = {
  name: "Cohere",
  path: "/v2/rerank",
  texts: "documents",
  score: "relevance_score",
  results: "results",
  returned: { option: "return_documents", path: ["document", "text"] },
  error: "message",
};
export const JINA: Form = { ...COHERE, name: "Jina", path: "/v1/rerank", error: "detail" };
export const TEI: Form = {
  name: "TEI",
  path: "/rerank",
  texts: "texts",
  score: "score",
  returned: { option: "return_text", path: ["text"] },
  error: "error",
};
export const FORMS = [COHERE, JINA, TEI];

/** The smallest request. It shows whether a server requires a key. */
export const RERANK_REQUEST = { path: COHERE.path, body: { model: "any", query: QUERY, documents: ["a"] } };

export interface Row {
  readonly index: number;
  readonly score: number;
  readonly text: Json | undefined;
}

export const rerankChecks = (drafts: Drafts): readonly Check[] => dialectChecks("rerank", "paths", drafts);

export const bodyOf = (form: Form, texts: readonly unknown[], others: object = {}) => ({
  ...(form === TEI ? {} : { model: "any" }),
  query: QUERY,
  [form.texts]: texts,
  ...others,
});

/** Sends a request, which must succeed, and returns its rows in the answer's order. */
export async function rerank(
  trial: Trial,
  form: Form,
  texts: readonly unknown[] = DOCUMENTS,
  others: object = {},
) {
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

export const scoreOf = (rows: readonly Row[], wanted: number) =>
  rows.find(({ index }) => index === wanted)?.score;

export function expectError(trial: Trial, form: Form, reply: Reply, status: number): void {
  trial.status(reply, status);
  const told = at(reply.json, form.error);
  trial.expect(typeof told === "string" && told !== "", `${form.error} is ${show(told)}`, reply);
}

/** Expects the header that counts truncated documents. */
export function expectCut(trial: Trial, reply: Reply, count: number): void {
  trial.equal("x-cut-documents", reply.headers["x-cut-documents"], String(count), reply);
}

export const inEach = (run: (trial: Trial, form: Form) => Promise<unknown>) => (trial: Trial) =>
  trial.each(FORMS, (form) => run(trial, form));
