// Generated from openapi/explain.yaml by `npm run generate`. Do not edit.

export interface paths {
    readonly "/v1/explain": {
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
         * Explain a request
         * @description Takes a request of `/v1/systemone`, with `questions`, or of `/v1/rank`, with `candidates` and possibly `question`. The
         *     answer has each text as the model reads it with its tokens, the answers or the ranked candidates, and the influence of
         *     each part of the state.
         *
         *     Rules beyond the schema; a violation is a 422:
         *
         *     - The request has either `questions` or `candidates`, and `question` only with `candidates`.
         *     - The other rules are those of the operation that is explained. `context` and `answers` are other names of `state` and
         *       `candidates`.
         *
         *     **Influence** is measured by leaving out: the same is asked again about the state without the part, all parts in
         *     one batch. Parts are the members of an object, the items of an array, and the sentences of a text; of a single
         *     sentence, its words. Neighbours are joined where there would be more than 32 parts. Two parts that say the same
         *     have little influence each, because the other one remains.
         *
         *     So a request costs as much as one with up to 33 states. With `dry_run` the model is not asked: the answer has texts and
         *     tokens only.
         */
        readonly post: operations["explain"];
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
        readonly ExplainRequest: {
            readonly state: components["schemas"]["JsonValue"];
            /** @description Questions by name, as in a request of `/v1/systemone`. */
            readonly questions?: {
                readonly [key: string]: components["schemas"]["Question"];
            };
            /** @description 2 to 64 distinct texts, as in a request of `/v1/rank`. Instead of `questions`. */
            readonly candidates?: ({
                readonly [key: string]: string;
            } | null) | readonly string[];
            readonly question?: components["schemas"]["JsonValue"];
            /** @description The served model's id or one of its aliases. Optional. */
            readonly model?: string;
            /** @description Do not ask the model; explain texts and tokens only. */
            readonly dry_run?: boolean;
        };
        readonly Explanation: {
            readonly state: components["schemas"]["Reading"];
            /** @description What is read of each question, by its name. Not of a ranking. */
            readonly questions?: {
                readonly [key: string]: components["schemas"]["QuestionReading"];
            };
            readonly question?: components["schemas"]["QuestionReading"];
            readonly limits: components["schemas"]["ReadingLimits"];
            /** @description The answers, as `/v1/systemone` gives them. Not of a ranking, and not in a dry run. */
            readonly answers?: {
                readonly [key: string]: components["schemas"]["Answer"];
            };
            /** @description The candidates of a ranking, best first, as `/v1/rank` gives them. Not in a dry run. */
            readonly ranked?: readonly components["schemas"]["RankedCandidate"][];
            /** @description The parts of the state, in its order; none if it has only one. Not in a dry run. */
            readonly influence?: readonly components["schemas"]["StatePart"][];
            readonly usage?: components["schemas"]["Usage"];
            /**
             * Format: double
             * @description Divisor of the scores in the softmax. Not in a dry run.
             */
            readonly temperature?: number;
            /** @description The served model's full id, `<namespace>/<name>@<revision>`. */
            readonly model: string;
            /**
             * Format: double
             * @description Milliseconds from the validated request to its explanation.
             */
            readonly latency_ms: number;
        };
        /** @description The token limits of the model, special tokens included. */
        readonly ReadingLimits: {
            /** Format: int64 */
            readonly max_state_question_tokens: number;
            /** Format: int64 */
            readonly max_candidate_tokens: number;
        };
        /** @description A text as the model reads it. */
        readonly Reading: {
            /** @description The rendered text. */
            readonly text: string;
            /** @description The tokens that the model gets, special tokens included. Of a model that reads a pair as one text they may reach across the borders of the texts and hold words of its frame; those of the first pair are shown. */
            readonly tokens: readonly components["schemas"]["Token"][];
            /** @description Whether the tokens were in the cache of texts. Not given where the model has no such cache. */
            readonly was_kept?: boolean;
        };
        readonly Token: {
            /** Format: int64 */
            readonly id: number;
            /** @description The token as the model's vocabulary writes it. */
            readonly text: string;
            /** @description The part of the text that it stands for. Not given for special tokens, and where a pair is one text. */
            readonly source?: string;
            /** @description Whether the vocabulary lacks the source, so that the model cannot tell it from other unknown words. */
            readonly is_unknown: boolean;
        };
        /** @description What is read of a question, or of the question of a ranking. */
        readonly QuestionReading: {
            readonly instructions: components["schemas"]["Reading"];
            /**
             * Format: int64
             * @description Tokens of state and question together, to compare with `max_state_question_tokens`. Not given where a pair is read as a whole.
             */
            readonly state_question_tokens?: number;
            /** @description The candidates by label, in the order of the answers. */
            readonly candidates: {
                readonly [key: string]: components["schemas"]["CandidateReading"];
            };
        };
        readonly CandidateReading: {
            /** @description The rendered text. */
            readonly text: string;
            /** @description The tokens that the model gets, special tokens included. */
            readonly tokens: readonly components["schemas"]["Token"][];
            /** @description As in `Reading`. */
            readonly was_kept?: boolean;
            /**
             * Format: int64
             * @description Tokens of state, question and candidate together.
             */
            readonly pair_tokens: number;
        };
        /** @description A part of the state. */
        readonly StatePart: {
            /**
             * @description What it is of the state; a part of several is named by its first.
             * @enum {string}
             */
            readonly unit: "field" | "item" | "sentence" | "word";
            readonly text: string;
            /** @description Its influence on each question, by name. Not of a ranking. */
            readonly questions?: {
                readonly [key: string]: components["schemas"]["PartInfluence"];
            };
            readonly question?: components["schemas"]["PartInfluence"];
        };
        /** @description The influence of a part on the answer to a question, or on the first candidate of a ranking. */
        readonly PartInfluence: {
            /**
             * Format: double
             * @description The probability of the answer, less its probability without this part. Above 0 the part speaks for the answer, below 0 against it. The answer is the label, the outcome, the level or the candidate with the largest score.
             */
            readonly shift: number;
            /** @description What would be answered without this part: a label, `true` or `false`, a level, or the candidate that would be first. */
            readonly answer: string;
            /** @description Probabilities by label without this part, in the order of the candidates. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
        };
        /** @description The body of every error. */
        readonly ErrorBody: {
            /** @description With 422, a list of 1 to 20 `ValidationIssue`s. With every other status, a sentence. */
            readonly detail: string | readonly components["schemas"]["ValidationIssue"][];
        };
        /** @description Any JSON value, null included. */
        readonly JsonValue: unknown;
        /** @description A question of one of three types; `type` selects the schema. */
        readonly Question: components["schemas"]["ChoiceQuestion"] | components["schemas"]["NoulQuestion"] | components["schemas"]["ScoreQuestion"];
        /** @description An answer of the same type as its question. */
        readonly Answer: components["schemas"]["ChoiceAnswer"] | components["schemas"]["NoulAnswer"] | components["schemas"]["ScoreAnswer"];
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
         * @description What went wrong. Codes do not change; sentences may. A minor version may add codes. With INVALID_REQUEST, the `type` of each issue says more.
         * @example QUEUE_FULL
         */
        readonly ErrorCode: string;
        /**
         * @description The authentication scheme.
         * @example Bearer
         */
        readonly Authenticate: "Bearer";
        /**
         * @description Seconds to wait before another attempt: 1, or an estimate where too much work waits for this request to be answered before its deadline.
         * @example 1
         */
        readonly RetryEstimate: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly explain: {
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
                readonly "application/json": components["schemas"]["ExplainRequest"];
            };
        };
        readonly responses: {
            /** @description The explanation */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-tuning": components["headers"]["Tuning"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    /** @description Milliseconds spent after validation, as in the contract of the service. Not in a dry run. */
                    readonly "server-timing"?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Explanation"];
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
}
