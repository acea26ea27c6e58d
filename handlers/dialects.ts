import type { Dialect } from "../src/contract/dialect.ts";
import { explanations } from "./explain/dialect.ts";
import { rerank } from "./rerank/dialect.ts";
import { typesafe } from "./typesafe/dialect.ts";

/** The contracts that are served beside the plain one, in the order in which the pages show them. */
export const dialects: readonly Dialect[] = [typesafe, rerank, explanations];
