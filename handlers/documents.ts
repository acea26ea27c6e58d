import type { Handler } from "../src/contract/call.ts";

/** The contract for client generators. */
export const getOpenapi: Handler<"getOpenapi"> = async ({ plainDocument }) => ({
  status: 200,
  body: plainDocument,
});

/** The contract with all its types. */
export const getTypedOpenapi: Handler<"getTypedOpenapi"> = async ({ document }) => ({
  status: 200,
  body: document,
});
