import { type Issue, invalidRequest, type Location, ServiceError } from "../../errors.ts";
import { probabilities } from "../answers.ts";
import type { RenderedQuestion, RenderedRequest, TextReader } from "../request.ts";
import type { ServedModel } from "../systemone.ts";
import { isBlank, strip } from "../texts.ts";
import { type Cut, cutText, partsOf } from "./parts.ts";

/**
 * The question that is asked about each document, with two candidates: the query, and this one. `tools/rerank.ts`
 * compares it with a plain ranking. A model that was trained to compare query and document reads those alone.
 */
const STATE = "Passage: ";
const QUESTION = "Which question does the passage answer?";
const NEITHER = "None of these questions.";

/** Chosen: room for the words of the question around the query, and for tokens that differ where a text is cut. */
const FRAME_TOKENS = 64;
/** Chosen: as many as keep the tokenizer's threads busy. */
const READ_AT_ONCE = 16;

/** Documents to be compared with a query, in the form that no dialect has. */
export interface RerankRequest {
  readonly query: string;
  readonly queryLoc: Location;
  readonly documents: readonly string[];
  readonly documentsLoc: Location;
  /** What is to be kept of each document; everything unless given. */
  readonly cut?: Cut | undefined;
}

/**
 * Of a blank document: the model's answer about it says nothing. Chosen: far below every real one, and 0 as a
 * probability.
 */
const OF_BLANK = { relevance: 0, raw: -1000 };

/** How well a document answers the query. */
export interface Relevance {
  /** Position in the request. */
  readonly index: number;
  /** 0 to 1; the probability of the query among the two candidates. */
  readonly relevance: number;
  /** x with relevance = 1 / (1 + exp(-x)). */
  readonly raw: number;
}

/** The work of a request, as the engine takes it, and what its scores mean. */
export interface RelevanceJob {
  /** @throws ServiceError INVALID_REQUEST for a query that is too long */
  prepare(reader: TextReader, signal: AbortSignal): Promise<readonly RenderedRequest[]>;
  /**
   * The most relevant document first; equal ones keep their order.
   *
   * @param scores [states] of [2] raw scores, in the order of what `prepare` gave
   * @throws ServiceError BACKEND_FAILED on a non-finite score, or when the scores do not fit the documents
   */
  relevances(scores: readonly Float32Array[]): readonly Relevance[];
  /** Documents that were cut. Known once `prepare` has ended. */
  cutDocuments(): readonly number[];
}

/** Tokens that documents and queries may have. */
export interface RerankLimits {
  /** Of a part of a document that is read at once. */
  readonly maxPartTokens: number;
  readonly maxQueryTokens: number;
}

/**
 * A part fills half of what a state may have: it is cheaper to read two halves, and a pair that is read as one text has
 * room for the query.
 */
export function rerankLimits({ limits, isReranker }: RerankModel): RerankLimits {
  const { maxStateQuestionTokens, maxCandidateTokens } = limits;
  const maxPartTokens = Math.floor(maxStateQuestionTokens / 2);
  const queryRoom = isReranker ? maxStateQuestionTokens - maxPartTokens : maxCandidateTokens;
  return { maxPartTokens, maxQueryTokens: queryRoom - FRAME_TOKENS };
}

type RerankModel = Pick<ServedModel, "limits" | "isReranker">;

/**
 * One question about each document, or about each part of one that is too long to be read at once. Nothing of it
 * depends on other documents, so that relevances of different requests can be compared.
 *
 * @throws ServiceError INVALID_REQUEST for a blank query
 */
export function relevanceJob(
  request: RerankRequest,
  model: RerankModel & { readonly temperature: number },
): RelevanceJob {
  const { queryLoc, documents } = request;
  const query = strip(request.query);
  if (isBlank(query)) throw refusal(queryLoc, "Expected a text, got a blank one.", "blank");
  const limits = rerankLimits(model);
  const isReranker = model.isReranker === true;
  const question = isReranker ? matchOf(query, queryLoc) : questionOf(query, queryLoc);
  const before = isReranker ? "" : STATE;
  const distinct = [...new Set(documents)];
  let read: readonly ReadDocument[] = [];
  return {
    async prepare(reader, signal) {
      await checkQuery(query, queryLoc, limits, reader);
      read = await readDocuments(distinct, { cut: request.cut, limits, reader, signal });
      return read.flatMap(({ parts }, at) => {
        const loc = [...request.documentsLoc, documents.indexOf(distinct[at] ?? "")];
        return parts.map((part) => ({ state: { text: strip(before + part), loc }, questions: [question] }));
      });
    },
    relevances(scores) {
      const queryFirst = isReranker ? scores.map((outcomes) => outcomes.toReversed()) : scores;
      const best = bestOfParts(read, queryFirst, model.temperature);
      const byText = new Map(distinct.map((text, at) => [text, isBlank(text) ? OF_BLANK : best[at]]));
      return documents
        .map((text, index) => ({ index, ...(byText.get(text) ?? missingScores()) }))
        .sort((a, b) => b.raw - a.raw); // stable
    },
    cutDocuments() {
      const cut = new Set(distinct.filter((_, at) => read[at]?.isCut));
      return documents.flatMap((text, index) => (cut.has(text) ? [index] : []));
    },
  };
}

interface ReadDocument {
  readonly parts: readonly string[];
  readonly isCut: boolean;
}

interface Reading {
  readonly cut: Cut | undefined;
  readonly limits: RerankLimits;
  readonly reader: TextReader;
  readonly signal: AbortSignal;
}

async function readDocuments(texts: readonly string[], reading: Reading): Promise<readonly ReadDocument[]> {
  const documents: ReadDocument[] = [];
  for (let start = 0; start < texts.length; start += READ_AT_ONCE) {
    const next = texts.slice(start, start + READ_AT_ONCE);
    documents.push(...(await Promise.all(next.map((text) => readDocument(text, reading)))));
  }
  return documents;
}

async function readDocument(text: string, { cut, limits, reader, signal }: Reading): Promise<ReadDocument> {
  const whole = strip(text);
  const kept = cut === undefined ? whole : await cutText(whole, cut, reader, signal);
  const parts = (await partsOf(kept, limits.maxPartTokens, reader, signal)).map(strip);
  const filled = parts.filter((part) => !isBlank(part));
  return { parts: filled.length > 0 ? filled : [""], isCut: kept.length < whole.length };
}

async function checkQuery(
  query: string,
  loc: Location,
  { maxQueryTokens }: RerankLimits,
  reader: TextReader,
) {
  const [tokens] = await reader.readTexts([query]);
  const count = tokens?.count ?? 0;
  if (count <= maxQueryTokens) return;
  throw refusal(loc, `Expected at most ${maxQueryTokens} tokens, got ${count}.`, "too_many_tokens");
}

/** As a ranking of the plain contract. */
function questionOf(query: string, loc: Location): RenderedQuestion {
  const candidate = (text: string) => ({ text, label: text, loc });
  return { question: { text: QUESTION, loc }, candidates: [candidate(query), candidate(NEITHER)] };
}

/** Yes or no: whether the document is one for the query. */
function matchOf(query: string, loc: Location): RenderedQuestion {
  const candidates = ["false", "true"].map((label) => ({ label, text: "", given: "", loc }));
  return { form: "noul", question: { text: query, loc }, candidates };
}

/** Of each document; that of its best part. */
function bestOfParts(
  documents: readonly ReadDocument[],
  scores: readonly Float32Array[],
  temperature: number,
): readonly Omit<Relevance, "index">[] {
  let at = 0;
  return documents.map(({ parts }) => {
    const ofParts = parts.map(() => relevanceOf(scores[at++], temperature));
    return ofParts.reduce((best, part) => (part.raw > best.raw ? part : best));
  });
}

function relevanceOf(scores: Float32Array | undefined, temperature: number): Omit<Relevance, "index"> {
  const [ofQuery, ofNeither] = scores ?? [];
  if (scores === undefined || ofQuery === undefined || ofNeither === undefined) return missingScores();
  const relevance = probabilities(scores, temperature)[0] ?? 0;
  return { relevance, raw: (ofQuery - ofNeither) / temperature };
}

function missingScores(): never {
  throw new ServiceError("BACKEND_FAILED", "The model returned too few or too many scores.");
}

function refusal(loc: Location, msg: string, type: Issue["type"]): ServiceError {
  return invalidRequest([{ loc, msg, type }]);
}
