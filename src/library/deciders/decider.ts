import type { Explanation, RankingExplanation, RankingTokens, TokenExplanation } from "./explanations.ts";
import { requestText } from "./json-input.ts";
import type { Candidates, DecideRequest, Questions, RankRequest } from "./requests.ts";
import type { Decisions, Ranking } from "./results.ts";

export interface CallOptions {
  /** Ends the call: it rejects with the code CANCELLED, with the signal's reason as its cause. */
  readonly signal?: AbortSignal | undefined;
}

/** An inference operation of the contract. */
export type AskedOperation = "systemone" | "rank";
/** One of them, or the operation of openapi/explain.yaml. */
export type Operation = AskedOperation | "explain";

export interface ExplainOptions extends CallOptions {
  /** Texts and tokens only: the model is not asked. */
  readonly dryRun?: boolean | undefined;
}

/** Sends a request's body and resolves with the body of its answer. @throws ServiceError */
export type Ask = (operation: Operation, body: string, options?: CallOptions) => Promise<string>;

/** Answers questions: with a model in this program's care, or through a running service. Errors are `ServiceError`s. */
export interface Decider extends AsyncDisposable {
  /**
   * Answers named questions about one state. Answers are typed by the questions.
   *
   * @throws ServiceError INVALID_REQUEST (with `issues`) | CANCELLED | DEADLINE_EXCEEDED | BACKEND_FAILED | DRAINING (closed)
   */
  decide<const Q extends Questions>(request: DecideRequest<Q>, options?: CallOptions): Promise<Decisions<Q>>;
  /** Ranks candidate texts for one state, best first. @throws ServiceError as `decide` */
  rank<const C extends Candidates>(request: RankRequest<C>, options?: CallOptions): Promise<Ranking<C>>;
  /**
   * Explains what the model reads of a request of `decide` or `rank` and how much each part of the state moved each answer, or
   * the first candidate. Through a service it needs one that was started with --explain. Costs as much as up to 33 requests.
   *
   * @throws ServiceError as `decide`; NOT_FOUND where a service explains nothing
   */
  explain<const Q extends Questions>(
    request: DecideRequest<Q>,
    options: ExplainOptions & { readonly dryRun: true },
  ): Promise<TokenExplanation<Q>>;
  explain<const Q extends Questions>(
    request: DecideRequest<Q>,
    options?: CallOptions & { readonly dryRun?: false | undefined },
  ): Promise<Explanation<Q>>;
  explain(request: RankRequest, options: ExplainOptions & { readonly dryRun: true }): Promise<RankingTokens>;
  explain<const C extends Candidates>(
    request: RankRequest<C>,
    options?: CallOptions & { readonly dryRun?: false | undefined },
  ): Promise<RankingExplanation<C>>;
  /**
   * The same from JSON text to JSON text. The answers are in the order of the request, also where their names look like
   * integers, which an object of JavaScript would move to the front.
   */
  readonly ask: Ask;
  /** Waits for the calls under way, then lets go of everything. Later calls are refused. */
  close(): Promise<void>;
}

/** The typed calls over texts. */
export function typedCalls(ask: Ask): Pick<Decider, "decide" | "rank" | "explain"> {
  return {
    // JSON.parse gives `any`; the contract says what a 200 holds, and tests hold both together
    async decide(request, options) {
      return JSON.parse(await ask("systemone", requestText(request), options));
    },
    async rank(request, options) {
      return JSON.parse(await ask("rank", requestText(request), options));
    },
    async explain(request: DecideRequest | RankRequest, { dryRun, ...options }: ExplainOptions = {}) {
      return JSON.parse(await ask("explain", requestText({ ...request, dry_run: dryRun }), options));
    },
  };
}
