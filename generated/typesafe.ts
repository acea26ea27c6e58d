// Generated from openapi/typesafe.yaml by `npm run generate`. Do not edit.

export interface paths {
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
            /** @description With 422, a list of issues as in the plain contract. With every other status, a `TypesafeFault`. */
            readonly detail: unknown;
        };
    };
    responses: {
        /** @description A key is configured, and the request has a wrong one */
        readonly WrongKey: {
            headers: {
                readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["TypesafeError"];
            };
        };
        /** @description A key is configured, and the request has none */
        readonly NoKey: {
            headers: {
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
         * @description The same as `x-request-id`, under the name that the SDKs read.
         * @example 0b8f6c1e-6f7d-4a39-9d35-5c2f3a6d1e74
         */
        readonly RequestId: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
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
                    readonly "x-typesafe-request-id": components["headers"]["RequestId"];
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TypesafeModelList"];
                };
            };
            readonly 401: components["responses"]["WrongKey"];
            readonly 403: components["responses"]["NoKey"];
        };
    };
}
