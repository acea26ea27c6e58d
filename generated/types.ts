// Generated from openapi/openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    readonly "/v1/systemone": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Answer questions about one state
         * @description Answers 1 to 32 named questions about one `state`. A question is a `choice` among labels, a `noul` (yes or no) or a
         *     `score` on a rubric. `answers` has exactly the names of the questions.
         *
         *     Rules beyond the schema; a violation is a 422:
         *
         *     - All questions of a request together have at most 256 candidates.
         *     - The descriptions of a question are distinct after rendering and trimming, and none is blank. A blank
         *       description of a choice is replaced by its label first.
         *     - State and instructions are not both blank.
         *     - Rendered state and question together fit the model's `max_state_question_tokens`, each candidate its
         *       `max_candidate_tokens` (see `/health`).
         *     - `model` is an id or alias that `/v1/models` lists, in the same case. No other model is ever downloaded.
         *
         *     The model may have started to compute a request that ends with 504. The service does not repeat it.
         */
        readonly post: operations["systemone"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/rank": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Rank candidate texts
         * @description Ranks 2 to 64 `candidates` for one `state` and `question`, best first. Ties keep the order of the request.
         *
         *     Rules beyond the schema; a violation is a 422:
         *
         *     - `candidates` is an object from label to text, or an array of texts. Array elements are labelled by position
         *       (`"0"`, `"1"`, ...). The texts are distinct after trimming, and none is blank.
         *     - `context` is an alias of `state`, `answers` an alias of `candidates`. A member given under both names is
         *       refused, unless the alias is null.
         *     - State and question are not both blank. A missing question is blank.
         *     - The token limits and the rule for `model` are those of `/v1/systemone`.
         *
         *     The model may have started to compute a request that ends with 504. The service does not repeat it.
         */
        readonly post: operations["rank"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/models": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the served model
         * @description The served model, with every name that requests may use for it.
         */
        readonly get: operations["listModels"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Report state, settings and counters
         * @description Reports the service, its model and its queue, never the content of requests. The report does not wait for the
         *     model. Unless the service is ready, the status is 503 with the same body.
         */
        readonly get: operations["getHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/ready": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Check readiness
         * @description Same status and body as `/health`, for readiness probes.
         */
        readonly get: operations["getReady"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/livez": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Check liveness
         * @description For liveness probes: whoever gets no answer, or a 503, may end the process and start another.
         *
         *     200 while the process works, also while the model is loaded, or loaded again after a crash, and during a
         *     shutdown. 503 if requests or batches are still there half a minute after their deadline.
         */
        readonly get: operations["getLivez"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/metrics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the metrics
         * @description Metrics for Prometheus, in its text format 0.0.4, or in OpenMetrics 1.0.0 if `Accept` prefers
         *     `application/openmetrics-text`. Names and meanings are part of the documentation. No label or value is taken
         *     from a request.
         *
         *     The path does not exist if the operator has turned metrics off or serves them on a port of their own.
         */
        readonly get: operations["getMetrics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/docs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read and try the contract
         * @description Interactive documentation; every asset comes from this service. Not there if the operator has turned pages off.
         */
        readonly get: operations["getDocs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/redoc": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the contract as a reference
         * @description Reference documentation on one page; every asset comes from this service. Not there if the operator has turned pages off.
         */
        readonly get: operations["getRedoc"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Fetch the contract
         * @description This document as JSON, for client generators. A few schemas say less than the contract, because some generators fail on unions: see `/openapi.typed.json`.
         */
        readonly get: operations["getOpenapi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.typed.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Fetch the contract with all its types
         * @description The same contract with every type, for readers, validators and TypeScript: `candidates`, `criteria` of a `noul`, `detail` and `loc` have their schemas, and requests their headers.
         */
        readonly get: operations["getTypedOpenapi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Any JSON value, null included. */
        readonly JsonValue: unknown;
        readonly SystemoneRequest: {
            readonly state: components["schemas"]["JsonValue"];
            /** @description Questions by name. A name may be any string, also the empty one. */
            readonly questions: {
                readonly [key: string]: components["schemas"]["Question"];
            };
            /** @description The served model's id or one of its aliases. Optional. */
            readonly model?: string;
        };
        /** @description A question of one of three types; `type` selects the schema. */
        readonly Question: components["schemas"]["ChoiceQuestion"] | components["schemas"]["NoulQuestion"] | components["schemas"]["ScoreQuestion"];
        /** @description Which label fits? */
        readonly ChoiceQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "choice";
            readonly instructions: components["schemas"]["JsonValue"];
            /** @description Descriptions by label. A blank description (null or an empty text) is replaced by the label. */
            readonly criteria: {
                readonly [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /** @description A yes/no question. */
        readonly NoulQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "noul";
            readonly instructions: components["schemas"]["JsonValue"];
            /** @description Descriptions of the outcomes `false` and `true`; one, both or none. `no` is an alias of `false`, `yes` of `true`. An outcome given under both names is refused, unless the alias is null. All other names are refused. */
            readonly criteria?: {
                readonly false?: components["schemas"]["JsonValue"];
                readonly true?: components["schemas"]["JsonValue"];
                readonly no?: components["schemas"]["JsonValue"];
                readonly yes?: components["schemas"]["JsonValue"];
            } | null;
        };
        /** @description Which level of the rubric fits? */
        readonly ScoreQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "score";
            readonly instructions: components["schemas"]["JsonValue"];
            /** @description Descriptions of the levels, lowest first. Levels are numbered from 0. */
            readonly criteria: readonly components["schemas"]["JsonValue"][];
        };
        readonly RankRequest: {
            readonly state: components["schemas"]["JsonValue"];
            /** @description 2 to 64 distinct texts, as an object from label to text or as an array of texts. */
            readonly candidates: {
                readonly [key: string]: string;
            } | readonly string[];
            readonly question?: components["schemas"]["JsonValue"];
            /** @description The served model's id or one of its aliases. Optional. */
            readonly model?: string;
        };
        readonly Decisions: {
            /** @description Answers by question name, in the order of the request. */
            readonly answers: {
                readonly [key: string]: components["schemas"]["Answer"];
            };
            readonly usage: components["schemas"]["Usage"];
            /** @description The served model's full id, `<namespace>/<name>@<revision>`. */
            readonly model: string;
            /**
             * Format: double
             * @description Divisor of the scores in the softmax. Fixed by the model.
             */
            readonly temperature: number;
            /**
             * @description How probabilities are computed from scores.
             * @enum {string}
             */
            readonly probabilities_source: "softmax_ranking_scores_external_temperature";
            /**
             * Format: double
             * @description Milliseconds from the validated request to its answer, including the time in the queue.
             */
            readonly latency_ms: number;
        };
        /** @description An answer of the same type as its question. */
        readonly Answer: components["schemas"]["ChoiceAnswer"] | components["schemas"]["NoulAnswer"] | components["schemas"]["ScoreAnswer"];
        readonly ChoiceAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "choice";
            /** @description The label with the largest score; the first one if several are equal. */
            readonly choice: string;
            /** @description Probabilities by label, in the order of the criteria. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
            /**
             * Format: double
             * @description The largest probability.
             */
            readonly confidence: number;
            /** @description Raw scores by label, in the order of the criteria. */
            readonly scores: {
                readonly [key: string]: number;
            };
        };
        readonly NoulAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "noul";
            /**
             * Format: double
             * @description The probability of `true`.
             */
            readonly noul: number;
            /** @description Probabilities of `false` and `true`, in this order. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
            /**
             * Format: double
             * @description The largest probability, also if `false` is more likely.
             */
            readonly confidence: number;
            /** @description Raw scores of `false` and `true`, in this order. */
            readonly scores: {
                readonly [key: string]: number;
            };
        };
        readonly ScoreAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "score";
            /**
             * Format: double
             * @description The expected level, that is the sum of each level times its probability. It may lie between two levels.
             */
            readonly score: number;
            /** @description Probabilities by level (`"0"`, `"1"`, ...), lowest level first. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
            /**
             * Format: double
             * @description The largest probability.
             */
            readonly confidence: number;
            /** @description Raw scores by level, lowest level first. */
            readonly scores: {
                readonly [key: string]: number;
            };
        };
        readonly Ranking: {
            /** @description All candidates, from the largest score to the smallest. */
            readonly ranked: readonly components["schemas"]["RankedCandidate"][];
            readonly usage: components["schemas"]["Usage"];
            /** @description The served model's full id, `<namespace>/<name>@<revision>`. */
            readonly model: string;
            /**
             * Format: double
             * @description Divisor of the scores in the softmax. Fixed by the model.
             */
            readonly temperature: number;
            /**
             * @description How probabilities are computed from scores.
             * @enum {string}
             */
            readonly probabilities_source: "softmax_ranking_scores_external_temperature";
            /**
             * Format: double
             * @description Milliseconds from the validated request to its answer, including the time in the queue.
             */
            readonly latency_ms: number;
        };
        readonly RankedCandidate: {
            /**
             * Format: int64
             * @description Position in the ranking, from 1.
             */
            readonly rank: number;
            /** @description The candidate's label, or its position in a list. */
            readonly candidate: string;
            /** @description The candidate's text as sent. */
            readonly text: string;
            /**
             * Format: double
             * @description The raw score.
             */
            readonly score: number;
            /**
             * Format: double
             * @description Probability among the candidates of this request.
             */
            readonly probability: number;
        };
        /** @description Token counts of this request. */
        readonly Usage: {
            /**
             * Format: int64
             * @description Tokens of the scored pairs. Each pair counts at its full length with special tokens, as if pairs shared nothing.
             */
            readonly input_tokens: number;
            /**
             * Format: int64
             * @description Always 0, because no text is generated.
             */
            readonly output_tokens: number;
            /**
             * Format: int64
             * @description The sum of `input_tokens` and `output_tokens`.
             */
            readonly total_tokens: number;
            /**
             * Format: int64
             * @description Pairs answered by the score cache or by an identical pair of the same batch. They add no tokens.
             */
            readonly cached_pairs: number;
        };
        readonly ModelList: {
            readonly models: readonly components["schemas"]["ServedModel"][];
        };
        readonly ServedModel: {
            /** @description The full id, `<namespace>/<name>@<revision>`. */
            readonly id: string;
            /** @description The same as `id`, for clients that read `name`. */
            readonly name: string;
            /** @description The other names that requests may use. */
            readonly aliases: readonly string[];
            /** @enum {string} */
            readonly task: "typed-decisions";
            readonly description: string;
            /** @description Date as `YYYY-MM-DD`. */
            readonly release_date: string;
            /** @description The pinned revision, 40 lowercase hexadecimal digits. */
            readonly revision: string;
            readonly tuning?: components["schemas"]["Tuning"];
        };
        /** @description Questions whose scores the service corrects, by a tuning that its operator made from labelled rows. Left out where there are none. */
        readonly Tuning: readonly components["schemas"]["TunedQuestion"][];
        readonly TunedQuestion: {
            /** @description Id of the correction, as in the header `x-decision-tuning`: 16 hexadecimal digits. */
            readonly id: string;
            /** @description The question's name when the tuning was made. Requests may use any name. */
            readonly name: string;
            /** @enum {string} */
            readonly type: "choice" | "noul" | "score";
            /** @description Digest of type, instructions, labels and descriptions as the model reads them: 32 hexadecimal digits. */
            readonly question: string;
            /**
             * @description `scale`: a scale and a bias for each label; `head`: a linear head besides.
             * @enum {string}
             */
            readonly kind: "scale" | "head";
        };
        /** @description State, settings and counters of the service. Counters start at 0 when its process starts. */
        readonly Health: {
            /**
             * @description `ready`: requests are accepted. `starting`: the model is loading. During the first load requests get 503; during a reload after a crash they wait, until a load has failed. `draining`: accepted requests are answered, then the service ends. `failed`: the service cannot answer.
             * @enum {string}
             */
            readonly status: "ready" | "starting" | "draining" | "failed";
            /** @description The served model's full id. */
            readonly model: string;
            /** @description The other names that requests may use. */
            readonly aliases: readonly string[];
            /** @description What computes: `onnx` (ONNX Runtime), `native` (PyTorch) or `remote` (another server). */
            readonly backend: string;
            /** @description Where it computes: `cpu`, `cuda`, `mps`, `coreml` or `webgpu`, with a number where there are several (`cuda:1`); `remote` with the backend `remote`, whose server decides. `auto` only until the model is loaded. */
            readonly device: string;
            /** @description The arithmetic: `int8` (8-bit weights and activations, summed exactly), `fp32`, `bf16`, `fp16`, or `graph` (the model package brings its own graph). Scores of different arithmetic differ a little. None depends on the batch; with the backend `native` only if `strict` is true, otherwise by rounding. `auto` only until the model is loaded. */
            readonly precision: string;
            /** @description Whether each candidate is scored in a batch of its own. */
            readonly strict: boolean;
            /**
             * Format: double
             * @description Divisor of the scores in the softmax.
             */
            readonly temperature: number;
            /** @description The service's version. */
            readonly version: string;
            /** @description The model's version. */
            readonly model_version: string;
            /**
             * Format: double
             * @description Seconds since the service began, on a clock that is never set. It begins with the loading of the model, so before the first answer.
             */
            readonly uptime_seconds: number;
            readonly limits: components["schemas"]["ServiceLimits"];
            /**
             * Format: int64
             * @description Requests that are waiting.
             */
            readonly queued_requests: number;
            /**
             * Format: int64
             * @description Maximum number of waiting requests.
             */
            readonly queue_capacity: number;
            /**
             * Format: int64
             * @description Requests that the model is working on.
             */
            readonly running_requests: number;
            /**
             * Format: double
             * @description How long the model will take for all that waits and runs, by its latest batches; 0 before there are some. Servers that do not measure leave it out.
             */
            readonly estimated_wait_seconds?: number;
            /**
             * Format: int64
             * @description Requests answered with scores.
             */
            readonly completed_requests: number;
            /**
             * Format: int64
             * @description Requests refused with 503.
             */
            readonly rejected_requests: number;
            /**
             * Format: int64
             * @description Requests that exceeded the deadline.
             */
            readonly timed_out_requests: number;
            /**
             * Format: int64
             * @description Requests that failed in the backend.
             */
            readonly failed_requests: number;
            /**
             * Format: int64
             * @description Requests whose caller disconnected after admission and before the answer.
             */
            readonly cancelled_requests: number;
            /**
             * Format: int64
             * @description Batches that the scheduler sent to the backend.
             */
            readonly model_batches: number;
            /**
             * Format: int64
             * @description Runs of the model. A batch may need several.
             */
            readonly model_forwards: number;
            /**
             * Format: int64
             * @description Capacity of the score cache; 0 if it is off.
             */
            readonly cache_size: number;
            /**
             * Format: int64
             * @description Scores in the cache.
             */
            readonly cache_entries: number;
            /**
             * Format: int64
             * @description Pairs answered by the cache.
             */
            readonly cache_hits: number;
            /**
             * Format: int64
             * @description Memory of the process that holds the model, at its last report; 0 while there is none. Left out where another server computes.
             */
            readonly model_memory_bytes?: number;
            /**
             * @description Whether the accepted keys are those of the operator's file of keys. `outdated`: the file could not be read when it changed, and the keys of before stay valid, also revoked ones. Left out where there is no such file.
             * @enum {string}
             */
            readonly keys_file?: "current" | "outdated";
            readonly tuning?: components["schemas"]["Tuning"];
        };
        readonly Liveness: {
            /** @enum {string} */
            readonly status: "live" | "stuck";
        };
        /** @description Limits of requests and batches. */
        readonly ServiceLimits: {
            /**
             * Format: int64
             * @description Maximum size of a body in bytes.
             */
            readonly max_body_bytes: number;
            /**
             * Format: int64
             * @description Maximum levels of objects and arrays in a body, its own level included.
             */
            readonly max_nesting: number;
            /**
             * Format: int64
             * @description Maximum number of questions per request.
             */
            readonly max_questions: number;
            /**
             * Format: int64
             * @description Minimum number of candidates of a choice, a score or a ranking.
             */
            readonly min_candidates: number;
            /**
             * Format: int64
             * @description Maximum number of candidates of a choice, a score or a ranking.
             */
            readonly max_candidates: number;
            /**
             * Format: int64
             * @description Maximum number of candidates of all questions of a request together.
             */
            readonly max_pairs: number;
            /**
             * Format: int64
             * @description Maximum number of tokens of state and question together, special tokens included.
             */
            readonly max_state_question_tokens: number;
            /**
             * Format: int64
             * @description Maximum number of tokens of a candidate, special tokens included.
             */
            readonly max_candidate_tokens: number;
            /**
             * Format: double
             * @description Seconds from the end of a request's headers until it gets 504.
             */
            readonly deadline_seconds: number;
            /**
             * Format: int64
             * @description Maximum number of waiting requests.
             */
            readonly queue_capacity: number;
            /**
             * Format: int64
             * @description Maximum number of requests in a batch.
             */
            readonly max_batch_requests: number;
            /**
             * Format: int64
             * @description Maximum number of tokens in a batch. A single pair may exceed it. The batch's largest state and question do not count if they have more than half of it.
             */
            readonly max_batch_tokens: number;
            /**
             * Format: double
             * @description Milliseconds that an idle model waits for more requests before it starts a batch.
             */
            readonly batch_wait_ms: number;
        };
        /** @description The body of every error. */
        readonly ErrorBody: {
            /** @description With 422, a list of 1 to 20 `ValidationIssue`s. With every other status, a sentence. */
            readonly detail: string | readonly components["schemas"]["ValidationIssue"][];
        };
        /** @description One reason why a request was refused. Element of `detail` of a 422. */
        readonly ValidationIssue: {
            /** @description Path to the fault: `body`, then member names (strings of at most 100 characters) and array positions (numbers). Names are those that the request used; with `missing`, the last one is the missing member's. */
            readonly loc: readonly (string | number)[];
            /** @description What was expected, and the JSON type, count or size that came. It never repeats values of the request. */
            readonly msg: string;
            /**
             * @description What is wrong:
             *
             *     - `media_type`: the body is not declared as JSON in UTF-8, or it has a content encoding
             *     - `invalid_json`: the body is empty, is not JSON in UTF-8, or is not I-JSON (see Requests)
             *     - `duplicate_member`: an object has two members of one name
             *     - `nesting_too_deep`: objects and arrays are nested more than 100 levels deep
             *     - `wrong_type`: a value has another JSON type than expected
             *     - `missing`: a required member is missing
             *     - `unknown_field`: the object does not have such a member
             *     - `unknown_value`: the string is none of the expected ones
             *     - `too_few`: fewer questions, criteria or candidates than required
             *     - `too_many`: more questions, criteria or candidates than allowed
             *     - `alias_conflict`: a member is given under both of its names
             *     - `blank`: a required text renders to nothing
             *     - `not_distinct`: two candidates of a question have the same text
             *     - `unsupported_model`: `model` is not a name of the served model
             *     - `too_many_pairs`: all questions together have more than 256 candidates
             *     - `too_many_tokens`: a text is longer than the model's limit
             * @enum {string}
             */
            readonly type: "media_type" | "invalid_json" | "duplicate_member" | "nesting_too_deep" | "wrong_type" | "missing" | "unknown_field" | "unknown_value" | "too_few" | "too_many" | "alias_conflict" | "blank" | "not_distinct" | "unsupported_model" | "too_many_pairs" | "too_many_tokens";
        };
    };
    responses: {
        /** @description A key is configured, and the request has no key or a wrong one */
        readonly Unauthorized: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "www-authenticate": components["headers"]["Authenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The body has more than 2,097,152 bytes */
        readonly BodyTooLarge: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The key has used up its requests or tokens of this minute; try again after `Retry-After` seconds */
        readonly RateLimited: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "retry-after": components["headers"]["RetryEstimate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The model or the service failed; the service's log has the cause under the request id */
        readonly Failed: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The service cannot take this request now; try again after `Retry-After` seconds */
        readonly Unavailable: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "retry-after": components["headers"]["RetryEstimate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The deadline passed before the answer was ready (60 seconds by default) */
        readonly DeadlineExceeded: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: {
        /**
         * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly RequestId: string;
        /**
         * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
         * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
         */
        readonly Traceparent: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The caller's `x-request-id` if it matches `[A-Za-z0-9._-]{1,128}`, otherwise a new one.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly RequestId: string;
        /**
         * @description The span of this request, as W3C Trace Context writes it. Only if the operator has turned traces on.
         * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
         */
        readonly Traceparent: string;
        /**
         * @description What went wrong. Codes do not change; sentences may. A minor version may add codes. With INVALID_REQUEST, the `type` of each issue says more.
         * @example QUEUE_FULL
         */
        readonly ErrorCode: string;
        /**
         * @description Milliseconds spent after validation, as `queue`, `tokenize`, `inference` and `total`.
         * @example queue;dur=0.21, tokenize;dur=0.94, inference;dur=13.1, total;dur=14.82
         */
        readonly ServerTiming: string;
        /**
         * @description Ids of the corrections in the answer, in the order of the questions. Left out where no question is corrected; `/health` says which question an id belongs to.
         * @example 3f0c5f7e21d4a9b8
         */
        readonly Tuning: string;
        /**
         * @description Number of questions with candidates that are the same tokens to the model, so that their scores are equal: texts that differ only in letter case, in accents or in characters that the model does not know. Left out where there are none. `decision explain` shows the tokens.
         * @example 1
         */
        readonly Indistinct: string;
        /**
         * @description Seconds to wait before the next attempt.
         * @example 1
         */
        readonly RetryAfter: "1";
        /**
         * @description Seconds to wait before another attempt: 1, or an estimate where too much work waits for this request to be answered before its deadline.
         * @example 1
         */
        readonly RetryEstimate: string;
        /**
         * @description The authentication scheme.
         * @example Bearer
         */
        readonly Authenticate: "Bearer";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly systemone: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SystemoneRequest"];
            };
        };
        readonly responses: {
            /** @description The answers, in the order of the questions */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-tuning": components["headers"]["Tuning"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Decisions"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 413: components["responses"]["BodyTooLarge"];
            /** @description The request is not valid; `detail` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorBody"];
                };
            };
            readonly 429: components["responses"]["RateLimited"];
            readonly 500: components["responses"]["Failed"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
        };
    };
    readonly rank: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RankRequest"];
            };
        };
        readonly responses: {
            /** @description The candidates, best first */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Ranking"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 413: components["responses"]["BodyTooLarge"];
            /** @description The request is not valid; `detail` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorBody"];
                };
            };
            readonly 429: components["responses"]["RateLimited"];
            readonly 500: components["responses"]["Failed"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
        };
    };
    readonly listModels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The served model */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ModelList"];
                };
            };
        };
    };
    readonly getHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Ready */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Starting, draining or failed. With the code TOO_MANY_CONNECTIONS the body is an error's: nothing was read from the connection. */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryAfter"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"] | components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    readonly getReady: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Ready */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Starting, draining or failed. With the code TOO_MANY_CONNECTIONS the body is an error's: nothing was read from the connection. */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryAfter"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"] | components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    readonly getLivez: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The process works */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Liveness"];
                };
            };
            /** @description The process is stuck; or too many connections are open, as at `/health` */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryAfter"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Liveness"] | components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    readonly getMetrics: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description All metrics */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                    readonly "application/openmetrics-text": string;
                };
            };
        };
    };
    readonly getDocs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly getRedoc: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly getOpenapi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An OpenAPI 3.0.3 document */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly [key: string]: unknown;
                    };
                };
            };
        };
    };
    readonly getTypedOpenapi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /**
                 * @description An id for this request, returned in the response and logged. Replaced if it does not match `[A-Za-z0-9._-]{1,128}`.
                 * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
                 */
                readonly "x-request-id"?: components["parameters"]["RequestId"];
                /**
                 * @description The caller's trace, as W3C Trace Context writes it. It is logged, and continued if the operator has turned traces on.
                 * @example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
                 */
                readonly traceparent?: components["parameters"]["Traceparent"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An OpenAPI 3.0.3 document */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly [key: string]: unknown;
                    };
                };
            };
        };
    };
}
