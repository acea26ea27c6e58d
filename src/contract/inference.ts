import { joinScores, joinVectors, type Slice, splitRequests } from "../decisions/parts.ts";
import type { RenderedRequest } from "../decisions/request.ts";
import type { TunedRequest, Tuning } from "../decisions/tuning.ts";
import { ServiceError } from "../errors.ts";
import type { Engine, ScoredRequest } from "../inference/engine.ts";
import type {
  Account,
  Answer,
  IncomingCall,
  InferenceFacts,
  ReadFacts,
  Scored,
  Services,
  Work,
} from "./call.ts";

/** An operation that asks the model, as the runner sees it. The body has been validated for it. */
export interface AnyInference {
  read(body: never, facts: ReadFacts): Promise<Work<unknown>> | Work<unknown>;
  answer(facts: unknown, scored: Scored, model: Engine["model"]): Answer<unknown>;
}

type InferenceCall = Omit<IncomingCall, "body" | "operationId">;
type RunnerServices = Pick<Services, "engine" | "clock" | "modelNames">;

/** An answer in the form that the contract writes. */
interface InferenceReply extends Answer<unknown> {
  readonly status: 200;
}

/** Scores, and what they cost. */
interface CorrectedScores {
  readonly scores: readonly Float32Array[];
  readonly scored: ScoredRequest;
  readonly tuned: TunedRequest | undefined;
}

/**
 * Runs an operation that asks the model, whatever it asks:
 *
 *     read ─▶ tunings of its questions ─▶ queue, tokens, key's limits ─▶ scores, corrected ─▶ facts ─▶ answer, headers
 *
 * Returns when the engine has the texts. From then on nothing here holds the body or the texts, because many requests
 * may wait.
 *
 * @throws ServiceError as `Engine.score`, INVALID_REQUEST, and RATE_LIMITED by the key's limits
 */
export async function begin(
  operation: AnyInference,
  body: unknown,
  call: InferenceCall,
  services: RunnerServices,
): Promise<{ readonly reply: Promise<InferenceReply> }> {
  const startedAt = services.clock.now();
  // the caller has validated the body for this operation
  const { texts, facts } = await operation.read(body as never, readFacts(call, services));
  const scoring = score(texts, call, services.engine);
  return { reply: finish({ operation, facts, scoring, startedAt, call, services }) };
}

function readFacts({ requestId, signal }: InferenceCall, { engine, modelNames }: RunnerServices): ReadFacts {
  const { model } = engine;
  return {
    model: modelNames.length === 0 ? model : { ...model, aliases: [...model.aliases, ...modelNames] },
    requestId,
    signal,
    readTokens: (request) => engine.read(request, signal),
  };
}

interface Begun {
  readonly operation: AnyInference;
  readonly facts: unknown;
  readonly scoring: Promise<CorrectedScores>;
  readonly startedAt: number;
  readonly call: InferenceCall;
  readonly services: RunnerServices;
}

async function finish({
  operation,
  facts,
  scoring,
  startedAt,
  call,
  services,
}: Begun): Promise<InferenceReply> {
  const { scores, scored, tuned } = await scoring;
  const { engine, clock } = services;
  const { inputTokens, cachedPairs, indistinct = 0, timing } = scored;
  const latencyMs = clock.now() - startedAt;
  const { body, headers } = operation.answer(
    facts,
    { scores, inputTokens, cachedPairs, latencyMs },
    engine.model,
  );
  const pairs = scores.reduce((sum, { length }) => sum + length, 0);
  if (pairs > 0)
    call.onInference?.({
      questions: scores.length,
      pairs,
      inputTokens,
      cachedPairs,
      indistinct,
      timing,
      startedAt,
    });
  return {
    status: 200,
    headers: {
      "server-timing": serverTiming(timing, latencyMs),
      ...tuningHeader(tuned),
      ...(indistinct > 0 && { "x-decision-indistinct": String(indistinct) }),
      ...headers,
    },
    body,
  };
}

/** @see https://www.w3.org/TR/server-timing/ (durations in milliseconds) */
function serverTiming({ queue, tokenize, inference }: InferenceFacts["timing"], total: number): string {
  return Object.entries({ queue, tokenize, inference, total })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`)
    .join(", ");
}

/** Names the corrections of an answer; nothing where there is none. */
function tuningHeader(tuned: TunedRequest | undefined): Readonly<Record<string, string>> {
  return tuned === undefined ? {} : { "x-decision-tuning": tuned.ids.join(", ") };
}

/** Gives the texts to the engine. Not an async function, whose frame would hold them. */
function score(
  texts: Work<unknown>["texts"],
  { signal, arrivedAt, account }: InferenceCall,
  engine: Engine,
): Promise<CorrectedScores> {
  const bill = new Bill(account);
  const options = { arrivedAt, onTokens: bill.charge };
  if ("prepare" in texts) return uncorrected(settled(engine.scoreAll(texts, signal, options), bill));
  const { parts, slices } = splitRequests(texts);
  const [first, ...others] = parts;
  const corrections = correctionsOf(texts, slices, engine.tuning);
  if (first === undefined) return corrected(Promise.resolve(NOTHING), corrections);
  const scoring =
    others.length === 0
      ? engine.score(first, signal, options)
      : engine.scoreAll({ prepare: async () => parts }, signal, options);
  return corrected(settled(scoring, bill), corrections);
}

/** Of requests that no model needs to be asked. */
const NOTHING: ScoredRequest = {
  scores: [],
  inputTokens: 0,
  cachedPairs: 0,
  timing: { queue: 0, tokenize: 0, inference: 0 },
};

/** What is done to the scores of parts. Holds no text. */
interface Corrections {
  readonly slices: readonly Slice[];
  /** [questions] candidates of each. */
  readonly counts: readonly number[];
  readonly tuned: TunedRequest | undefined;
}

function correctionsOf(
  requests: readonly RenderedRequest[],
  slices: readonly Slice[],
  tuning: Tuning | undefined,
): Corrections {
  const questions = requests.flatMap((request) => request.questions);
  const counts = questions.map(({ candidates }) => candidates.length);
  return { slices, counts, tuned: tuning?.match(questions) };
}

async function corrected(
  scoring: Promise<ScoredRequest>,
  { slices, counts, tuned }: Corrections,
): Promise<CorrectedScores> {
  const scored = await scoring;
  const raw = joinScores(slices, counts, scored.scores);
  if (tuned === undefined) return { scores: raw, scored, tuned };
  const vectors = joinVectors(slices, counts, scored.vectors ?? []);
  return { scores: tuned.correct(raw, vectors), scored, tuned };
}

/** Of a job, whose questions no tuning knows. */
async function uncorrected(scoring: Promise<ScoredRequest>): Promise<CorrectedScores> {
  const scored = await scoring;
  return { scores: scored.scores, scored, tuned: undefined };
}

/** The tokens that the key of a call is charged before it is queued. */
class Bill {
  readonly #account: Account | undefined;
  #charged = 0;
  #refund: (part: number) => void = () => {};

  constructor(account: Account | undefined) {
    this.#account = account;
  }

  /** @throws ServiceError RATE_LIMITED */
  readonly charge = (tokens: number): void => {
    if (this.#account === undefined) return;
    this.#refund = this.#account.takeTokens(tokens);
    this.#charged = tokens;
  };

  /** Refunds what is more than this. */
  settle(tokens: number): void {
    this.#refund(this.#charged - tokens);
    this.#charged = tokens;
  }
}

/**
 * Refunds the tokens of pairs that were not computed. All are refunded where the service has refused the request
 * or has failed; none where the caller has left or the deadline has passed, because the model may have computed them.
 */
async function settled(scoring: Promise<ScoredRequest>, bill: Bill): Promise<ScoredRequest> {
  try {
    const scored = await scoring;
    bill.settle(scored.inputTokens);
    return scored;
  } catch (error) {
    const kind = error instanceof ServiceError ? error.kind : undefined;
    if (kind !== "CANCELLED" && kind !== "DEADLINE_EXCEEDED") bill.settle(0);
    throw error;
  }
}
