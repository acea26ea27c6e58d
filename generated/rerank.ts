// Generated from openapi/rerank.yaml by `npm run generate`. Do not edit.

export interface paths {
    readonly "/v2/rerank": {
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
         * Rerank documents as Cohere's API, version 2
         * @description Sorts 1 to 1,000 `documents` by their relevance for `query`, best first.
         *
         *     - `top_n` is the number of results; without it, and where there are fewer documents, all of them.
         *     - `max_tokens_per_doc` cuts each document behind that many tokens. Without it nothing is cut; Cohere's default of 4,096 does
         *       not apply.
         *     - `return_documents` returns the text of each result's document, as sent and never cut.
         *     - `priority` is accepted and has no effect: requests are served by size and in order of arrival.
         *     - An optional member that is null counts as missing.
         */
        readonly post: operations["cohereRerank"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/rerank": {
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
         * Rerank documents as Jina's API, version 1
         * @description Sorts 1 to 1,000 `documents` by their relevance for `query`, best first.
         *
         *     - A document is a text, or an object whose member `text` is one.
         *     - `top_n` is the number of results; without it, and where there are fewer documents, all of them.
         *     - `return_documents` (as with Jina true if missing) returns the text of each result's document, as sent.
         *     - `max_doc_length` cuts each document behind that many tokens. Without it nothing is cut.
         *     - Other members are ignored, and an optional member that is null counts as missing.
         */
        readonly post: operations["jinaRerank"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/rerank": {
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
         * Rerank texts as Text Embeddings Inference
         * @description Scores 1 to 1,000 `texts` by their relevance for `query`. The answer has exactly one row for each text, best first.
         *
         *     - `raw_scores` returns the number x with relevance = 1 / (1 + exp(-x)) instead of the relevance.
         *     - `return_text` returns each text, as sent.
         *     - `truncate` cuts each text to `max_input_length` tokens (see `/info`): its end goes, or with `truncation_direction: Left` its
         *       beginning. Without it nothing is cut: a longer text is read in parts, where TEI would refuse it.
         *     - Other members are ignored, and an optional member that is null counts as missing.
         */
        readonly post: operations["teiRerank"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/info": {
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
         * Describe the model as Text Embeddings Inference
         * @description The served model and the limits of requests, in the members that TEI's `/info` has.
         */
        readonly get: operations["teiInfo"];
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
        readonly CohereQuery: {
            /** @description Any text. The one served model answers. */
            readonly model?: string | null;
            /** @description What the documents are sorted for. Not blank. */
            readonly query: string;
            /** @description Texts; equal ones are allowed. */
            readonly documents: readonly string[];
            /**
             * Format: int64
             * @description The number of results. All documents if missing.
             */
            readonly top_n?: number | null;
            /**
             * Format: int64
             * @description Cuts each document behind that many tokens. Nothing is cut if missing.
             */
            readonly max_tokens_per_doc?: number | null;
            /** @description Whether results have their documents. False if missing. */
            readonly return_documents?: boolean | null;
            /**
             * Format: int64
             * @description Has no effect.
             */
            readonly priority?: number | null;
        };
        readonly CohereRanking: {
            /** @description The request id, as in `x-request-id`. */
            readonly id: string;
            /** @description The `top_n` most relevant documents, best first. */
            readonly results: readonly components["schemas"]["RankedDocument"][];
            readonly meta: components["schemas"]["CohereMeta"];
        };
        readonly CohereMeta: {
            readonly api_version: components["schemas"]["CohereApiVersion"];
            readonly tokens: components["schemas"]["CohereTokens"];
            /** @description Says that documents were cut. Missing if none was. */
            readonly warnings?: readonly string[];
        };
        readonly CohereApiVersion: {
            /** @enum {string} */
            readonly version: "2";
        };
        readonly CohereTokens: {
            /**
             * Format: int64
             * @description Tokens of the scored pairs, as `usage.input_tokens` of `/v1/systemone` counts them.
             */
            readonly input_tokens: number;
            /**
             * Format: int64
             * @description Always 0.
             */
            readonly output_tokens: number;
        };
        readonly RankedDocument: {
            /**
             * Format: int64
             * @description The document's position in the request, from 0.
             */
            readonly index: number;
            /**
             * Format: double
             * @description The relevance.
             */
            readonly relevance_score: number;
            readonly document?: components["schemas"]["DocumentText"];
        };
        /** @description A document as sent. */
        readonly DocumentText: {
            readonly text: string;
        };
        /** @description The body of every error of `/v2/rerank`. */
        readonly CohereFailure: {
            /** @description What was expected and what came. It never repeats values of the request. */
            readonly message: string;
        };
        readonly JinaQuery: {
            /** @description Any text. The one served model answers. */
            readonly model?: string | null;
            /** @description What the documents are sorted for. Not blank. */
            readonly query: string;
            /** @description Texts, or objects with a member `text`; equal ones are allowed. */
            readonly documents: readonly (string | {
                readonly text: string;
            })[];
            /**
             * Format: int64
             * @description The number of results. All documents if missing.
             */
            readonly top_n?: number | null;
            /** @description Whether results have their documents. True if missing. */
            readonly return_documents?: boolean | null;
            /**
             * Format: int64
             * @description Cuts each document behind that many tokens. Nothing is cut if missing.
             */
            readonly max_doc_length?: number | null;
        };
        readonly JinaRanking: {
            /** @description The served model's full id. */
            readonly model: string;
            /** @enum {string} */
            readonly object: "list";
            readonly usage: components["schemas"]["JinaUsage"];
            /** @description The `top_n` most relevant documents, best first. */
            readonly results: readonly components["schemas"]["RankedDocument"][];
            /** @description Says that documents were cut. Missing if none was. */
            readonly warnings?: readonly string[];
        };
        readonly JinaUsage: {
            /**
             * Format: int64
             * @description Tokens of the scored pairs, as `usage.total_tokens` of `/v1/systemone` counts them.
             */
            readonly total_tokens: number;
            /**
             * Format: int64
             * @description The same.
             */
            readonly prompt_tokens: number;
        };
        /** @description The body of every error of `/v1/rerank`. */
        readonly JinaFailure: {
            /** @description What was expected and what came. It never repeats values of the request. */
            readonly detail: string;
        };
        readonly TeiQuery: {
            /** @description What the texts are sorted for. Not blank. */
            readonly query: string;
            /** @description Texts; equal ones are allowed. */
            readonly texts: readonly string[];
            /** @description Whether scores are raw. False if missing. */
            readonly raw_scores?: boolean | null;
            /** @description Whether rows have their texts. False if missing. */
            readonly return_text?: boolean | null;
            /** @description Whether texts are cut to `max_input_length` tokens. False if missing. */
            readonly truncate?: boolean | null;
            /**
             * @description From which end a text is cut. Right if missing.
             * @enum {string|null}
             */
            readonly truncation_direction?: "Right" | "Left" | "right" | "left" | null;
        };
        /** @description One row for each text, best first. */
        readonly TeiRanks: readonly components["schemas"]["TeiRank"][];
        readonly TeiRank: {
            /**
             * Format: int64
             * @description The text's position in the request, from 0.
             */
            readonly index: number;
            /**
             * Format: double
             * @description The relevance, or with `raw_scores` the raw score.
             */
            readonly score: number;
            /** @description The text as sent. */
            readonly text?: string;
        };
        /** @description The body of every error of `/rerank`. */
        readonly TeiFailure: {
            /** @description What was expected and what came. It never repeats values of the request. */
            readonly error: string;
            /**
             * @description TEI's own: `validation` (the request is not valid), `overloaded` (too much waits, or the deadline passed), `backend` (the model or the service failed), `unhealthy` (the service starts or shuts down); and `unauthorized`.
             * @enum {string}
             */
            readonly error_type: "validation" | "overloaded" | "backend" | "unhealthy" | "unauthorized";
        };
        readonly TeiModelInfo: {
            /** @description The served model, without its revision. */
            readonly model_id: string;
            /** @description The model's revision. */
            readonly model_sha: string;
            /** @description The arithmetic, as `precision` of `/health`. */
            readonly model_dtype: string;
            readonly model_type: components["schemas"]["TeiModelType"];
            /**
             * Format: int64
             * @description Requests that may wait.
             */
            readonly max_concurrent_requests: number;
            /**
             * Format: int64
             * @description Tokens of a text that are read at once. `truncate` cuts to it.
             */
            readonly max_input_length: number;
            /**
             * Format: int64
             * @description Tokens of a batch.
             */
            readonly max_batch_tokens: number;
            /**
             * Format: int64
             * @description Requests of a batch.
             */
            readonly max_batch_requests: number;
            /**
             * Format: int64
             * @description Texts of a request.
             */
            readonly max_client_batch_size: number;
            /** @description Always false, nothing is cut unasked. */
            readonly auto_truncate: boolean;
            /**
             * Format: int64
             * @description Threads that texts are tokenized in.
             */
            readonly tokenization_workers: number;
            /** @description The service's version. */
            readonly version: string;
            /** @description Always null, the service does not know its commit. */
            readonly sha: string | null;
            /** @description Always null, the service does not know its image. */
            readonly docker_label: string | null;
        };
        readonly TeiModelType: {
            readonly reranker: components["schemas"]["TeiLabels"];
        };
        readonly TeiLabels: {
            readonly id2label: {
                readonly [key: string]: string;
            };
            readonly label2id: {
                readonly [key: string]: number;
            };
        };
    };
    responses: never;
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
         * @description How many documents were cut, because the request asked for it. 0 means that every document was read whole.
         * @example 0
         */
        readonly CutDocuments: string;
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
    readonly cohereRerank: {
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
                readonly "application/json": components["schemas"]["CohereQuery"];
            };
        };
        readonly responses: {
            /** @description The results, best first */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    readonly "x-cut-documents": components["headers"]["CutDocuments"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereRanking"];
                };
            };
            /** @description A key is configured, and the request has no key or a wrong one */
            readonly 401: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "www-authenticate": components["headers"]["Authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
            /** @description The body has more than 2,097,152 bytes */
            readonly 413: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
            /** @description The request is not valid; `message` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
            /** @description The key has used up its requests or tokens of this minute; try again after `Retry-After` seconds */
            readonly 429: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryEstimate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
            /** @description The model or the service failed */
            readonly 500: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
            /** @description The service cannot take this request now; try again after `Retry-After` seconds */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryEstimate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
            /** @description The deadline passed before the answer was ready */
            readonly 504: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CohereFailure"];
                };
            };
        };
    };
    readonly jinaRerank: {
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
                readonly "application/json": components["schemas"]["JinaQuery"];
            };
        };
        readonly responses: {
            /** @description The results, best first */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    readonly "x-cut-documents": components["headers"]["CutDocuments"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaRanking"];
                };
            };
            /** @description A key is configured, and the request has no key or a wrong one */
            readonly 401: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "www-authenticate": components["headers"]["Authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
            /** @description The body has more than 2,097,152 bytes */
            readonly 413: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
            /** @description The request is not valid; `detail` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
            /** @description The key has used up its requests or tokens of this minute; try again after `Retry-After` seconds */
            readonly 429: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryEstimate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
            /** @description The model or the service failed */
            readonly 500: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
            /** @description The service cannot take this request now; try again after `Retry-After` seconds */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryEstimate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
            /** @description The deadline passed before the answer was ready */
            readonly 504: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["JinaFailure"];
                };
            };
        };
    };
    readonly teiRerank: {
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
                readonly "application/json": components["schemas"]["TeiQuery"];
            };
        };
        readonly responses: {
            /** @description One row a text, best first */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "server-timing": components["headers"]["ServerTiming"];
                    readonly "x-decision-indistinct": components["headers"]["Indistinct"];
                    readonly "x-cut-documents": components["headers"]["CutDocuments"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiRanks"];
                };
            };
            /** @description A key is configured, and the request has no key or a wrong one */
            readonly 401: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "www-authenticate": components["headers"]["Authenticate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
            /** @description The body has more than 2,097,152 bytes */
            readonly 413: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
            /** @description The request is not valid; `error` lists why */
            readonly 422: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
            /** @description The model or the service failed */
            readonly 424: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
            /** @description Too much waits, or the key has used up its requests or tokens of this minute; try again after `Retry-After` seconds */
            readonly 429: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryEstimate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
            /** @description The service starts or shuts down */
            readonly 503: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly "retry-after": components["headers"]["RetryEstimate"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
            /** @description The deadline passed before the answer was ready */
            readonly 504: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly "x-decision-error": components["headers"]["ErrorCode"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiFailure"];
                };
            };
        };
    };
    readonly teiInfo: {
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
            /** @description The model and the limits */
            readonly 200: {
                headers: {
                    readonly "x-request-id": components["headers"]["RequestId"];
                    readonly traceparent: components["headers"]["Traceparent"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TeiModelInfo"];
                };
            };
        };
    };
}
