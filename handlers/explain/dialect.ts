import type { operations } from "../../generated/explain.ts";
import { type Dialect, handlersOf } from "../../src/contract/dialect.ts";
import { explain } from "./explain.ts";

/** Explanations of requests, at the root, for operators who want them. */
export const explanations: Dialect = {
  name: "explain",
  basePath: "",
  handlers: handlersOf<operations>({ explain }),
  isOptional: true,
};
