import type { QuestionType, RenderedRequest } from "../../decisions/request.ts";
import type { Engine, ModelFacts, ScoredRequest } from "../../inference/engine.ts";
import { questionDigest } from "../../tuning/question-digest.ts";
import { bytesOf } from "./json-input.ts";
import { type DeciderOptions, startEngine } from "./local-decider.ts";
import { ownSignal, WaitingLine } from "./waiting-line.ts";

/** The model's output for one question of a request, before any tuning. */
export interface QuestionScores {
  readonly form: QuestionType;
  /** See `questionDigest`. */
  readonly digest: string;
  readonly labels: readonly string[];
  readonly scores: Float32Array; // [labels]
  /** [labels, size] input of the model's head, if the model returns it */
  readonly vectors: Float32Array | undefined;
}

/** A model that returns scores and vectors, to fit corrections to. */
export interface Scorer {
  readonly model: ModelFacts;
  readonly precision: string;
  /**
   * @param body JSON text of a request of `decide`
   * @returns one element per question, in the order of the request
   * @throws ServiceError as `Decider.decide`
   */
  score(body: string, options?: { readonly signal?: AbortSignal }): Promise<readonly QuestionScores[]>;
  close(): Promise<void>;
}

/**
 * Loads a model as `createDecider` does.
 *
 * @param needs whether vectors are needed
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL (also for a model without vectors, if they are needed) |
 * BACKEND_FAILED
 */
export async function createScorer(
  options: DeciderOptions,
  needs: { readonly hasVectors: boolean },
): Promise<Scorer> {
  const scored = new WeakMap<AbortSignal, readonly QuestionScores[]>();
  const note = (signal: AbortSignal, scores: readonly QuestionScores[]) => void scored.set(signal, scores);
  const started = await startEngine({ ...options, tuning: [] }, needs, (engine) => recording(engine, note));
  const { engine, contract } = started;
  const line = new WaitingLine(started.options.queueSize);
  return {
    model: engine.model,
    precision: engine.health().precision,
    async score(body, options = {}) {
      const signal = ownSignal(options.signal);
      const call = { operationId: "systemone", requestId: "local", signal, body: bytesOf(body) };
      await line.run(() => contract.answer(call), signal);
      return scored.get(signal) ?? [];
    },
    close: () => engine.close(),
  };
}

/** Wraps an engine to record its scores. The request is validated and rendered as usual. */
function recording(
  engine: Engine,
  note: (signal: AbortSignal, scores: readonly QuestionScores[]) => void,
): Engine {
  return {
    model: engine.model,
    tuning: undefined,
    async score(request, signal, options) {
      const scored = await engine.score(request, signal, options);
      note(signal, scoresOf(request, scored));
      return scored;
    },
    scoreAll: (job, signal, options) => engine.scoreAll(job, signal, options),
    read: (request, signal) => engine.read(request, signal),
    health: () => engine.health(),
  };
}

function scoresOf({ questions }: RenderedRequest, { scores, vectors }: ScoredRequest): QuestionScores[] {
  return questions.map((question, at) => ({
    form: question.form ?? "choice",
    digest: questionDigest(question),
    labels: question.candidates.map(({ label }) => label),
    scores: scores[at] ?? new Float32Array(),
    vectors: vectors?.[at],
  }));
}
