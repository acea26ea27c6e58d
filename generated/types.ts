// Generated from openapi/openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    readonly "/v1/systemone": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Answer questions about one state
         * @description Answers 1 to 32 named questions about one `state`. A question is a `choice` among labels, a `noul` (yes or no) or a
         *     `score` on a rubric. Every question name comes back as a name in `answers`, and no other does.
         *
         *     Beyond the schema (each a 422):
         *
         *     - The questions of a request have at most 256 candidates together.
         *     - The descriptions of one question differ from each other after rendering and trimming, and none is blank. A
         *       choice's blank description stands for its label.
         *     - State and instructions are not both blank.
         *     - Rendered state and question together fit the model's `max_state_question_tokens`, each candidate its
         *       `max_candidate_tokens`. `/health` gives both limits.
         *     - `model` is an id or alias that `/v1/models` lists.
         *
         *     A request that ended with 504 may have begun work on the model; it is not repeated by the service.
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Rank candidate texts
         * @description Ranks 2 to 64 `candidates` for one `state` and `question`, best first; ties keep the order of the request.
         *
         *     Beyond the schema (each a 422):
         *
         *     - `candidates` is an object from label to text or an array of texts. Array elements get their position as
         *       label (`"0"`, `"1"`, ...). The texts differ from each other after trimming, and none is blank.
         *     - `context` is accepted as another name of `state`, `answers` as another name of `candidates`; giving a member under
         *       both names is refused, unless the other name's value is null.
         *     - State and question are not both blank. A question that is left out is blank.
         *     - The token limits and the rule for `model` are those of `/v1/systemone`.
         *
         *     A request that ended with 504 may have begun work on the model; it is not repeated by the service.
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the served model
         * @description The one resident model, with every name that requests may call it by.
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Report state, settings and counters
         * @description Facts about the service, its model and its queue, never about the content of requests. Answers within
         *     milliseconds also while the model works. The status is 503, with the same body, unless the service is ready.
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Tell whether requests are taken
         * @description The same check and the same body as `/health`, under the path that orchestrators probe.
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
    readonly "/docs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read and try the contract
         * @description Interactive documentation; every asset comes from this service.
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Read the contract as a reference
         * @description Reference documentation on one page; every asset comes from this service.
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Fetch the contract
         * @description This document as JSON, for client generators and other programs.
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
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Any JSON value, null included. */
        readonly JsonValue: unknown;
        readonly SystemoneRequest: {
            readonly state: components["schemas"]["JsonValue"];
            /** @description Question name to question. Any string is a name, the empty one too. */
            readonly questions: {
                readonly [key: string]: components["schemas"]["Question"];
            };
            /** @description The served model's id or one of its aliases; the served model if left out. */
            readonly model?: string;
        };
        /** @description A question of one of three types, told apart by `type`. */
        readonly Question: components["schemas"]["ChoiceQuestion"] | components["schemas"]["NoulQuestion"] | components["schemas"]["ScoreQuestion"];
        /** @description Which of the labels fits? */
        readonly ChoiceQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "choice";
            readonly instructions: components["schemas"]["JsonValue"];
            /** @description Label to description. A blank description (null, or an empty text) stands for its label. */
            readonly criteria: {
                readonly [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /** @description Is it so? A yes/no question. */
        readonly NoulQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "noul";
            readonly instructions: components["schemas"]["JsonValue"];
            /** @description Descriptions of the outcomes `false` and `true`; one, both or none. `no` is accepted as another name of `false`, `yes` of `true`. An outcome given under both names is refused, unless the other name's value is null; any name beside these four is refused too. */
            readonly criteria?: {
                readonly [key: string]: components["schemas"]["JsonValue"];
            } | null;
        };
        /** @description Where on the rubric? */
        readonly ScoreQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "score";
            readonly instructions: components["schemas"]["JsonValue"];
            /** @description Descriptions of the levels, lowest first. A level is its position, from 0. */
            readonly criteria: readonly components["schemas"]["JsonValue"][];
        };
        readonly RankRequest: {
            readonly state: components["schemas"]["JsonValue"];
            /** @description 2 to 64 different texts, as an object from label to text or as an array of texts. */
            readonly candidates: unknown;
            readonly question?: components["schemas"]["JsonValue"];
            /** @description The served model's id or one of its aliases; the served model if left out. */
            readonly model?: string;
        };
        readonly Decisions: {
            /** @description Question name to answer, in the order of the request. */
            readonly answers: {
                readonly [key: string]: components["schemas"]["Answer"];
            };
            readonly usage: components["schemas"]["Usage"];
            /** @description The served model's full id, `<namespace>/<name>@<revision>`. */
            readonly model: string;
            /**
             * Format: double
             * @description Divisor of the scores in the softmax, which the model fixes.
             */
            readonly temperature: number;
            /**
             * @description How the probabilities come from the scores.
             * @enum {string}
             */
            readonly probabilities_source: "softmax_ranking_scores_external_temperature";
            /**
             * Format: double
             * @description Milliseconds from the validated request to its answer, time in the queue included.
             */
            readonly latency_ms: number;
        };
        /** @description An answer of the type of its question. */
        readonly Answer: components["schemas"]["ChoiceAnswer"] | components["schemas"]["NoulAnswer"] | components["schemas"]["ScoreAnswer"];
        readonly ChoiceAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "choice";
            /** @description The label with the largest score; among equal scores the first. */
            readonly choice: string;
            /** @description Label to probability, in the order of the criteria. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
            /**
             * Format: double
             * @description The largest probability.
             */
            readonly confidence: number;
            /** @description Label to raw score, in the order of the criteria. */
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
            /** @description Probabilities of `false` and `true`, under these names. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
            /**
             * Format: double
             * @description The largest probability, also where `false` is likelier.
             */
            readonly confidence: number;
            /** @description Raw scores of `false` and `true`, under these names. */
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
             * @description The expected level, the sum of each level times its probability; it can lie between two levels.
             */
            readonly score: number;
            /** @description Level (`"0"`, `"1"`, ...) to probability, lowest level first. */
            readonly probabilities: {
                readonly [key: string]: number;
            };
            /**
             * Format: double
             * @description The largest probability.
             */
            readonly confidence: number;
            /** @description Level to raw score, lowest level first. */
            readonly scores: {
                readonly [key: string]: number;
            };
        };
        readonly Ranking: {
            /** @description Every candidate, from the largest score to the smallest. */
            readonly ranked: readonly components["schemas"]["RankedCandidate"][];
            readonly usage: components["schemas"]["Usage"];
            /** @description The served model's full id, `<namespace>/<name>@<revision>`. */
            readonly model: string;
            /**
             * Format: double
             * @description Divisor of the scores in the softmax, which the model fixes.
             */
            readonly temperature: number;
            /**
             * @description How the probabilities come from the scores.
             * @enum {string}
             */
            readonly probabilities_source: "softmax_ranking_scores_external_temperature";
            /**
             * Format: double
             * @description Milliseconds from the validated request to its answer, time in the queue included.
             */
            readonly latency_ms: number;
        };
        readonly RankedCandidate: {
            /**
             * Format: int64
             * @description Place in the ranking, from 1.
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
        /** @description Tokens that were scored for this request. */
        readonly Usage: {
            /**
             * Format: int64
             * @description Tokens of the scored pairs, each pair at its full length with special tokens, as if pairs shared nothing.
             */
            readonly input_tokens: number;
            /**
             * Format: int64
             * @description Always 0, for no text is generated.
             */
            readonly output_tokens: number;
            /**
             * Format: int64
             * @description The sum of both.
             */
            readonly total_tokens: number;
            /**
             * Format: int64
             * @description Pairs answered from the score cache or by an equal pair of the same batch; they add no tokens.
             */
            readonly cached_pairs: number;
        };
        readonly ModelList: {
            readonly models: readonly components["schemas"]["ServedModel"][];
        };
        readonly ServedModel: {
            /** @description The full id, `<namespace>/<name>@<revision>`. */
            readonly id: string;
            /** @description The full id again. */
            readonly name: string;
            /** @description The other names that requests may use. */
            readonly aliases: readonly string[];
            /** @enum {string} */
            readonly task: "typed-decisions";
            readonly description: string;
            /** @description Year, month and day. */
            readonly release_date: string;
            /** @description The pinned revision, 40 lowercase hexadecimal digits. */
            readonly revision: string;
        };
        /** @description State, settings and counters of the service. Counters run since the start. */
        readonly Health: {
            /**
             * @description `ready` takes requests; `starting` loads the model: at first it turns requests away, and when it has lost the model and loads it again it lets them wait, until a try has failed; `draining` answers what it has taken and then ends; `failed` cannot answer.
             * @enum {string}
             */
            readonly status: "ready" | "starting" | "draining" | "failed";
            /** @description The served model's full id. */
            readonly model: string;
            /** @description The other names that requests may use. */
            readonly aliases: readonly string[];
            /** @description What runs the model. */
            readonly backend: string;
            /** @description Where it runs. */
            readonly device: string;
            /** @description The numbers it computes with: `int8` (8-bit weights and activations, the products added up exactly), `fp32`, or `graph` (a graph that came with the model: whatever it says). The scores of the first two differ a little; each is the same to the last bit in any company. */
            readonly precision: string;
            /** @description Whether each candidate is scored on its own. */
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
            /** Format: double */
            readonly uptime_seconds: number;
            readonly limits: components["schemas"]["ServiceLimits"];
            /**
             * Format: int64
             * @description Requests that wait now.
             */
            readonly queued_requests: number;
            /**
             * Format: int64
             * @description Requests that may wait at once.
             */
            readonly queue_capacity: number;
            /**
             * Format: int64
             * @description Requests that the model works on now.
             */
            readonly running_requests: number;
            /**
             * Format: int64
             * @description Requests answered with scores.
             */
            readonly completed_requests: number;
            /**
             * Format: int64
             * @description Requests refused because the queue was full or the service was not ready.
             */
            readonly rejected_requests: number;
            /**
             * Format: int64
             * @description Requests that passed the deadline.
             */
            readonly timed_out_requests: number;
            /**
             * Format: int64
             * @description Requests lost to a failure of the backend.
             */
            readonly failed_requests: number;
            /**
             * Format: int64
             * @description Requests whose caller left between coming to the queue and the answer.
             */
            readonly cancelled_requests: number;
            /**
             * Format: int64
             * @description Batches that the scheduler gave to the backend.
             */
            readonly model_batches: number;
            /**
             * Format: int64
             * @description Runs of the model; a batch can take several.
             */
            readonly model_forwards: number;
            /**
             * Format: int64
             * @description Scores that the cache may hold; 0 means that there is none.
             */
            readonly cache_size: number;
            /**
             * Format: int64
             * @description Scores that it holds now.
             */
            readonly cache_entries: number;
            /**
             * Format: int64
             * @description Pairs that it has answered.
             */
            readonly cache_hits: number;
        };
        /** @description The bounds that requests and batches are held to. */
        readonly ServiceLimits: {
            /**
             * Format: int64
             * @description Bytes of a body.
             */
            readonly max_body_bytes: number;
            /**
             * Format: int64
             * @description Levels of objects and arrays in a body, its own included.
             */
            readonly max_nesting: number;
            /**
             * Format: int64
             * @description Questions of a request.
             */
            readonly max_questions: number;
            /**
             * Format: int64
             * @description Candidates of a choice, a score or a ranking, at least.
             */
            readonly min_candidates: number;
            /**
             * Format: int64
             * @description Candidates of a choice, a score or a ranking, at most.
             */
            readonly max_candidates: number;
            /**
             * Format: int64
             * @description Candidates of all questions of a request together.
             */
            readonly max_pairs: number;
            /**
             * Format: int64
             * @description Tokens of state and question together, special tokens included.
             */
            readonly max_state_question_tokens: number;
            /**
             * Format: int64
             * @description Tokens of a candidate, special tokens included.
             */
            readonly max_candidate_tokens: number;
            /**
             * Format: double
             * @description Seconds from the end of a request's headers after which it is given up.
             */
            readonly deadline_seconds: number;
            /**
             * Format: int64
             * @description Requests that may wait at once.
             */
            readonly queue_capacity: number;
            /**
             * Format: int64
             * @description Requests of a batch.
             */
            readonly max_batch_requests: number;
            /**
             * Format: int64
             * @description New tokens of a batch. A single pair may have more, and a state and question of more than half of it come on top.
             */
            readonly max_batch_tokens: number;
            /**
             * Format: double
             * @description Milliseconds that a batch waits for company.
             */
            readonly batch_wait_ms: number;
        };
        /** @description The body of every error. */
        readonly ErrorBody: {
            /** @description With 422 a list of 1 to 20 `ValidationIssue`s, with every other status a sentence. */
            readonly detail: unknown;
        };
        /** @description One reason why a request was refused; the elements of a 422's `detail`. */
        readonly ValidationIssue: {
            /** @description Where in the request: `body`, then member names (strings, cut at 100 characters) and array positions (numbers). Names are those that the request used. */
            readonly loc: readonly unknown[];
            /** @description What was expected, and the JSON type, count or size that came. Never a value of the request. */
            readonly msg: string;
            /**
             * @description What is wrong:
             *
             *     - `media_type`: the body is not declared as JSON in UTF-8, or it is encoded
             *     - `invalid_json`: the body is empty or not JSON text in UTF-8, or holds a number or string that JSON cannot exchange safely
             *     - `duplicate_member`: an object has two members of one name
             *     - `nesting_too_deep`: objects and arrays lie in each other more than 100 levels deep
             *     - `wrong_type`: a value has another JSON type than expected
             *     - `missing`: a required member is not there
             *     - `unknown_field`: a member that the object does not have
             *     - `unknown_value`: a string that is none of the expected ones
             *     - `too_few`: fewer questions, criteria or candidates than required
             *     - `too_many`: more questions, criteria or candidates than allowed
             *     - `alias_conflict`: a member is given under both of its names
             *     - `blank`: a text that renders to nothing where one is needed
             *     - `not_distinct`: two candidates of a question have the same text
             *     - `unsupported_model`: `model` is not a name of the served model
             *     - `too_many_pairs`: the questions have more than 256 candidates together
             *     - `too_many_tokens`: a text is longer than the model's limit
             * @enum {string}
             */
            readonly type: "media_type" | "invalid_json" | "duplicate_member" | "nesting_too_deep" | "wrong_type" | "missing" | "unknown_field" | "unknown_value" | "too_few" | "too_many" | "alias_conflict" | "blank" | "not_distinct" | "unsupported_model" | "too_many_pairs" | "too_many_tokens";
        };
    };
    responses: {
        /** @description A key is configured, and the request has none or another one */
        readonly Unauthorized: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "www-authenticate": components["headers"]["Authenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The path has no such method */
        readonly OnlyPost: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly allow: components["headers"]["Allow"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The path has no such method */
        readonly OnlyGet: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly allow: components["headers"]["Allow"];
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
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description The model or the service failed; the cause is in the service's log under the request id */
        readonly Failed: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description No request is taken at present; try again after `Retry-After` */
        readonly Unavailable: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
        /** @description No answer before the service's deadline (60 seconds by default) */
        readonly DeadlineExceeded: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["ErrorBody"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description The caller's `x-request-id` where it matches `[A-Za-z0-9._-]{1,128}`, else one made by the service.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly RequestId: string;
        /**
         * @description Milliseconds from the validated request to its answer, as `queue`, `tokenize`, `inference` and `total`.
         * @example queue;dur=0.21, tokenize;dur=0.94, inference;dur=13.1, total;dur=14.82
         */
        readonly ServerTiming: string;
        /**
         * @description Seconds to wait before another attempt.
         * @example 1
         */
        readonly RetryAfter: "1";
        /**
         * @description The scheme that the key is sent with.
         * @example Bearer
         */
        readonly Authenticate: "Bearer";
        /**
         * @description The methods that the path has.
         * @example POST
         */
        readonly Allow: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly systemone: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
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
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Decisions"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 405: components["responses"]["OnlyPost"];
            readonly 413: components["responses"]["BodyTooLarge"];
            /** @description The request is not valid; `detail` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorBody"];
                };
            };
            readonly 500: components["responses"]["Failed"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
        };
    };
    readonly rank: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
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
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Ranking"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 405: components["responses"]["OnlyPost"];
            readonly 413: components["responses"]["BodyTooLarge"];
            /** @description The request is not valid; `detail` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErrorBody"];
                };
            };
            readonly 500: components["responses"]["Failed"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
        };
    };
    readonly listModels: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The served model */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ModelList"];
                };
            };
            readonly 405: components["responses"]["OnlyGet"];
        };
    };
    readonly getHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Ready */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Starting, draining or failed */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly "retry-after": components["headers"]["RetryAfter"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly getReady: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Ready */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Starting, draining or failed */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly "retry-after": components["headers"]["RetryAfter"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly getDocs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            readonly 405: components["responses"]["OnlyGet"];
        };
    };
    readonly getRedoc: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description A page */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
            readonly 405: components["responses"]["OnlyGet"];
        };
    };
    readonly getOpenapi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An OpenAPI 3.0.3 document */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly [key: string]: unknown;
                    };
                };
            };
            readonly 405: components["responses"]["OnlyGet"];
        };
    };
}
