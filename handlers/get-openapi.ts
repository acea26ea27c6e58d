import type { Handler } from "../src/contract/call.ts";

/** The contract for client generators. */
export const getOpenapi: Handler<"getOpenapi"> = async ({ plainDocument }) => ({
  status: 200,
  body: plainDocument,
});
