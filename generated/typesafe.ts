// Generated from openapi/typesafe.yaml by `npm run generate`. Do not edit.

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
         * @description Answers named questions about one `state`. All questions together have at most 4,096 options and levels (a `noul`
         *     has two). State and instructions of a question are not both blank. Texts fit the model's token limits (see
         *     `/health` of the plain contract).
         */
        readonly post: operations["typesafeSystemone"];
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
         * Name the served model
         * @description The served model, once under its id and once under each name that stands for a hosted model.
         */
        readonly get: operations["typesafeModels"];
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
        readonly TypesafeRequest: {
            readonly state: components["schemas"]["JsonValue"];
            /** @description Questions by name. A name may be any string. */
            readonly questions: {
                readonly [key: string]: components["schemas"]["TypesafeQuestion"];
            };
            /** @description A name that `/v1/models` lists, or another name of the served model. Optional. */
            readonly model?: string | null;
            /** @description Images. Refused unless null or an empty object. */
            readonly assets?: unknown;
        };
        /** @description A question; `type` selects the schema. */
        readonly TypesafeQuestion: components["schemas"]["TypesafeChoiceQuestion"] | components["schemas"]["TypesafeNoulQuestion"] | components["schemas"]["TypesafeScoreQuestion"] | components["schemas"]["TypesafeBoxQuestion"];
        readonly TypesafeChoiceQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "choice";
            readonly instructions?: components["schemas"]["JsonValue"];
            /** @description Descriptions by option. An option whose description is null or blank stands for itself. */
            readonly criteria: {
                readonly [key: string]: components["schemas"]["JsonValue"];
            };
        };
        readonly TypesafeNoulQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "noul";
            readonly instructions?: components["schemas"]["JsonValue"];
            /** @description Descriptions of the outcomes `true` and `false`, or by their aliases `yes` and `no`; one, both or none. Other names are refused. */
            readonly criteria?: {
                readonly false?: components["schemas"]["JsonValue"];
                readonly true?: components["schemas"]["JsonValue"];
                readonly no?: components["schemas"]["JsonValue"];
                readonly yes?: components["schemas"]["JsonValue"];
            } | null;
        };
        readonly TypesafeScoreQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "score";
            readonly instructions?: components["schemas"]["JsonValue"];
            /** @description Descriptions of the levels, lowest first. Levels are numbered from 0. */
            readonly criteria: readonly components["schemas"]["JsonValue"][];
        };
        /** @description A question about an image. Always refused with 422, because images are not supported. */
        readonly TypesafeBoxQuestion: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "box";
        };
        readonly TypesafeAnswers: {
            /** @description The served model's full id, `<namespace>/<name>@<revision>`. */
            readonly model: string;
            /** @description Answers by question name, in the order of the request. */
            readonly answers: {
                readonly [key: string]: components["schemas"]["TypesafeAnswer"];
            };
            readonly usage: components["schemas"]["TypesafeUsage"];
        };
        /** @description An answer of the same type as its question. */
        readonly TypesafeAnswer: components["schemas"]["TypesafeChoiceAnswer"] | components["schemas"]["TypesafeNoulAnswer"] | components["schemas"]["TypesafeScoreAnswer"];
        readonly TypesafeChoiceAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "choice";
            /** @description The option with the largest score; the first one if several are equal. */
            readonly choice: string;
            /** @description Probabilities by option, in the order of the criteria. */
            readonly probabilities: {
                readonly [key: string]: components["schemas"]["TypesafeShare"];
            };
            readonly confidence: components["schemas"]["TypesafeShare"];
        };
        readonly TypesafeNoulAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "noul";
            readonly noul: components["schemas"]["TypesafeShare"];
        };
        readonly TypesafeScoreAnswer: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            readonly type: "score";
            /**
             * Format: double
             * @description The expected level, that is the sum of each level times its probability.
             */
            readonly score: number;
            /** @description The levels as sent, by number. A level that is neither a string nor an object nor an array appears as its text. */
            readonly legend: {
                readonly [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description Probabilities by level, lowest level first. */
            readonly probabilities: {
                readonly [key: string]: components["schemas"]["TypesafeShare"];
            };
            readonly confidence: components["schemas"]["TypesafeShare"];
        };
        /**
         * Format: double
         * @description A probability or a confidence, rounded to two decimals.
         */
        readonly TypesafeShare: number;
        readonly TypesafeUsage: {
            /**
             * Format: int64
             * @description Tokens of the scored pairs, as in the plain contract; 0 if the model was not needed.
             */
            readonly input_tokens: number;
            /**
             * Format: int64
             * @description Always 0, because no text is generated.
             */
            readonly output_tokens: number;
        };
        readonly TypesafeModelList: {
            readonly models: readonly components["schemas"]["TypesafeModel"][];
        };
        readonly TypesafeModel: {
            readonly name: string;
            readonly description: string;
            /** @description Date as `YYYY-MM-DD`. */
            readonly release_date: string;
        };
        /** @description The body of every error. */
        readonly TypesafeError: {
            /** @description With 422, a list of issues as in the plain contract. With every other status, an object with `error_type` and `message`. */
            readonly detail: {
                readonly error_type: string;
                readonly message: string;
            } | readonly components["schemas"]["ValidationIssue"][];
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
        /** @description A key is configured, and the request has a wrong one */
        readonly WrongKey: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "www-authenticate": components["headers"]["Authenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description A key is configured, and the request has none */
        readonly NoKey: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "www-authenticate": components["headers"]["Authenticate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The name in `model` is not one of the served model */
        readonly WrongModel: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The body has more than 2,097,152 bytes, as sent or decoded */
        readonly BodyTooLarge: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The request is not valid; `detail` lists why */
        readonly Invalid: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The model or the service failed */
        readonly Failed: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The key has used up its requests or tokens of this minute; try again after `Retry-After` seconds */
        readonly RateLimited: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "retry-after": components["headers"]["RetryEstimate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The service cannot take this request now */
        readonly Unavailable: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly "retry-after": components["headers"]["RetryEstimate"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The deadline passed before the answer was ready (60 seconds by default) */
        readonly DeadlineExceeded: {
            headers: {
                readonly "x-request-id": components["headers"]["RequestId"];
                readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                readonly traceparent: components["headers"]["Traceparent"];
                readonly "x-decision-error": components["headers"]["ErrorCode"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
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
         * @description The same as `x-request-id`, under the name that the SDKs read.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly TypesafeRequestId: string;
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
    readonly typesafeSystemone: {
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
                readonly "application/json": components["schemas"]["TypesafeRequest"];
            };
        };
        readonly responses: {
            /** @description The answers, in the order of the questions */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-tuning": components["headers"]["Tuning"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TypesafeAnswers"];
                };
            };
            readonly 400: components["responses"]["WrongModel"];
            readonly 401: components["responses"]["WrongKey"];
            readonly 403: components["responses"]["NoKey"];
            readonly 413: components["responses"]["BodyTooLarge"];
            readonly 422: components["responses"]["Invalid"];
            readonly 429: components["responses"]["RateLimited"];
            readonly 500: components["responses"]["Failed"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["DeadlineExceeded"];
        };
    };
    readonly typesafeModels: {
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
            /** @description The names that `model` may have */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly "x-typesafe-request-id": components["headers"]["TypesafeRequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TypesafeModelList"];
                };
            };
        };
    };
}
