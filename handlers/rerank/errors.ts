import type { DialectError } from "../../src/contract/dialect.ts";
import type { Failure } from "../../src/contract/error-reply.ts";

/**
 * The error bodies that rerank clients read: Cohere's `message`, Jina's `detail` and TEI's `error` are sentences. TEI
 * has statuses of its own for a service with too much to do and for one that fails.
 */
export function rerankError(failure: Failure, operationId: string | undefined): DialectError {
  const text = sentence(failure.detail);
  switch (operationId) {
    case "cohereRerank":
      return { body: { message: text } };
    case "teiRerank":
    case "teiInfo":
      return teiError(failure, lacksTexts(failure) ? `${text} ${OTHER_PATHS}` : text);
    default:
      return { body: { detail: text } };
  }
}

/** Tools for Jina's API are often configured with TEI's path. */
const OTHER_PATHS = "Requests with `documents` go to /v1/rerank (Jina) or /v2/rerank (Cohere).";

function lacksTexts({ detail }: Failure): boolean {
  return (
    typeof detail !== "string" && detail.some(({ loc, type }) => type === "missing" && loc[1] === "texts")
  );
}

interface TeiRule {
  readonly type: "validation" | "overloaded" | "backend" | "unhealthy" | "unauthorized";
  readonly status?: number;
}

/** @see https://huggingface.github.io/text-embeddings-inference/ for statuses and error types */
const TEI_RULES: Partial<Record<Failure["kind"], TeiRule>> = {
  KEY_MISSING: { type: "unauthorized" },
  UNAUTHORIZED: { type: "unauthorized" },
  RATE_LIMITED: { type: "overloaded" },
  QUEUE_FULL: { type: "overloaded", status: 429 },
  OVERLOADED: { type: "overloaded", status: 429 },
  STARTING: { type: "unhealthy" },
  DRAINING: { type: "unhealthy" },
  DEADLINE_EXCEEDED: { type: "overloaded" },
  BACKEND_FAILED: { type: "backend", status: 424 },
  INTERNAL: { type: "backend", status: 424 },
};

function teiError({ kind, status }: Failure, error: string): DialectError {
  const rule = TEI_RULES[kind] ?? { type: "validation" };
  return { status: rule.status ?? status, body: { error, error_type: rule.type } };
}

/** One line: `documents.3: Expected ..., got ...; query: Expected ..., got ....` */
function sentence(detail: Failure["detail"]): string {
  if (typeof detail === "string") return detail;
  return detail
    .map(({ loc, msg }) => [loc.slice(1).join("."), msg].filter((part) => part !== "").join(": "))
    .join(" ");
}
