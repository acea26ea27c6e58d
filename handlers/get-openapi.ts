import type { Handler } from "../src/contract/call.ts";

/** The contract itself. */
export const getOpenapi: Handler<"getOpenapi"> = async (_call, { document }) => ({
  status: 200,
  body: document,
});
