// Generated from openapi/typesafe.yaml by `npm run generate`. Do not edit.

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
            readonly header?: never;
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
            /** @description Descriptions of the outcomes `true` and `false`; one, both or none. Other names are refused. */
            readonly criteria?: {
                readonly [key: string]: components["schemas"]["JsonValue"];
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
            readonly detail: unknown;
        };
    };
    responses: {
        /** @description A key is configured, and the request has a wrong one */
        readonly WrongKey: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
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
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The name in `model` is not one of the served model */
        readonly WrongModel: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The body has more than 2,097,152 bytes, as sent or decoded */
        readonly BodyTooLarge: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The request is not valid; `detail` lists why */
        readonly Invalid: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The model or the service failed */
        readonly Failed: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The key has used up its requests or tokens of this minute; try again after `Retry-After` seconds */
        readonly RateLimited: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The service cannot take this request now */
        readonly Unavailable: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly "retry-after": components["headers"]["RetryAfter"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description The deadline passed before the answer was ready (60 seconds by default) */
        readonly DeadlineExceeded: {
            headers: {
                readonly "x-request-id": components["headers"]["PlainRequestId"];
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description The caller's `x-request-id` if it matches the pattern, otherwise a new one.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly PlainRequestId: string;
        /**
         * @description Milliseconds in the queue, for tokenizing, for inference and in total, of all calls of the model together.
         * @example queue;dur=0.041, tokenize;dur=0.512, inference;dur=12.904, total;dur=13.882
         */
        readonly ServerTiming: string;
        /**
         * @description Ids of the corrections in the answer, in the order of the questions. Left out where no question is corrected.
         * @example 3f0c5f7e21d4a9b8
         */
        readonly Tuning: string;
        /**
         * @description The authentication scheme.
         * @example Bearer
         */
        readonly Authenticate: "Bearer";
        /**
         * @description Seconds to wait before another attempt.
         * @example 1
         */
        readonly RetryAfter: string;
        /**
         * @description The same as `x-request-id`, under the name that the SDKs read.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly RequestId: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly typesafeSystemone: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
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
                    readonly "x-request-id": components["headers"]["PlainRequestId"];
                    readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-tuning": components["headers"]["Tuning"];
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
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The names that `model` may have */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["PlainRequestId"];
                    readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TypesafeModelList"];
                };
            };
            /** @description The path does not have this method */
            readonly 405: {
                headers: {
                    readonly "x-request-id": components["headers"]["PlainRequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TypesafeError"];
                };
            };
        };
    };
}
