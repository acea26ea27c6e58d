import type { Explanation, RankingExplanation, RankingTokens, TokenExplanation } from "./explanations.ts";
import { requestText } from "./json-input.ts";
import type { Candidates, DecideRequest, Questions, RankRequest } from "./requests.ts";
import type { Decisions, Ranking } from "./results.ts";

export interface CallOptions {
  /** Aborts the call, which then rejects with CANCELLED and the signal's reason as `cause`. */
  readonly signal?: AbortSignal | undefined;
}

/** An inference operation of the contract. */
export type AskedOperation = "systemone" | "rank";
/** An operation of a decider: an inference operation, or that of openapi/explain.yaml. */
export type Operation = AskedOperation | "explain";

export interface ExplainOptions extends CallOptions {
  /** True explains texts and tokens only, without running the model. */
  readonly dryRun?: boolean | undefined;
}

/** Sends the JSON text of a request and resolves with the JSON text of the answer. @throws ServiceError */
export type Ask = (operation: Operation, body: string, options?: CallOptions) => Promise<string>;

/** Answers questions with a model that this program loads, or through a running service. Errors are `ServiceError`s. */
export interface Decider extends AsyncDisposable {
  /**
   * Answers named questions about one state. Answers are typed by the questions.
   *
   * @throws ServiceError INVALID_REQUEST (with `issues`) | CANCELLED | DEADLINE_EXCEEDED | BACKEND_FAILED | DRAINING
   * (closed)
   */
  decide<const Q extends Questions>(request: DecideRequest<Q>, options?: CallOptions): Promise<Decisions<Q>>;
  /** Ranks candidate texts for one state, best first. @throws ServiceError as `decide` */
  rank<const C extends Candidates>(request: RankRequest<C>, options?: CallOptions): Promise<Ranking<C>>;
  /**
   * Explains a request of `decide` or `rank`: the tokens that the model reads, and how much each part of the state
   * changed each answer, or the probability of the first candidate. A service must have been started with --explain.
   * Costs as much as up to 33 requests.
   *
   * @throws ServiceError as `decide`; NOT_FOUND if a service has no explanations
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
   * Sends JSON text and resolves with JSON text. Answers keep the order of the request, also if names look like
   * integers, which JavaScript objects would move to the front.
   */
  readonly ask: Ask;
  /** Waits for calls in progress, then releases all resources. Later calls are refused. */
  close(): Promise<void>;
}

/** The typed calls on top of calls with JSON texts. */
export function typedCalls(ask: Ask): Pick<Decider, "decide" | "rank" | "explain"> {
  return {
    // the contract defines the body of a 200; a type test compares these types with it
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
