import type { operations } from "../../generated/rerank.ts";
import { type Dialect, handlersOf } from "../../src/contract/dialect.ts";
import { cohereRerank } from "./cohere-rerank.ts";
import { rerankError } from "./errors.ts";
import { jinaRerank } from "./jina-rerank.ts";
import { teiInfo } from "./tei-info.ts";
import { teiRerank } from "./tei-rerank.ts";

/** Rerank as Cohere, Jina and Text Embeddings Inference take it, at the root. */
export const rerank: Dialect = {
  name: "rerank",
  basePath: "",
  handlers: handlersOf<operations>({ cohereRerank, jinaRerank, teiRerank, teiInfo }),
  bareKeys: ["teiRerank"],
  errorOf: rerankError,
};
