import type { Handler } from "../src/contract/call.ts";

/** The contract with all its types. */
export const getTypedOpenapi: Handler<"getTypedOpenapi"> = async ({ document }) => ({
  status: 200,
  body: document,
});
