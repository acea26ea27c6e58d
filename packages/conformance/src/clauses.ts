import { ARITHMETIC_CHECKS } from "./checks/answers/arithmetic.ts";
import { DEPENDENCE_CHECKS } from "./checks/answers/dependence.ts";
import { EVERY_ANSWER_CHECKS } from "./checks/answers/every-answer.ts";
import { INDEPENDENCE_CHECKS } from "./checks/answers/independence.ts";
import { OWN_ANSWER_CHECKS } from "./checks/answers/own-answers.ts";
import { RANKING_CHECKS } from "./checks/answers/ranking.ts";
import { ANSWER_SCHEMA_CHECKS, SERVER_SCHEMA_CHECKS } from "./checks/answers/schemas.ts";
import { ORDER_CHECKS, SHAPE_CHECKS } from "./checks/answers/shapes.ts";
import { USAGE_CHECKS } from "./checks/answers/usage.ts";
import { AUTHENTICATION_CHECKS } from "./checks/http/authentication.ts";
import { MEDIA_CHECKS } from "./checks/http/media.ts";
import { ROUTE_CHECKS } from "./checks/http/routes.ts";
import { WIRE_CHECKS } from "./checks/http/wire.ts";
import { ALIAS_CHECKS } from "./checks/requests/aliases.ts";
import { ERROR_CHECKS } from "./checks/requests/errors.ts";
import { JSON_CHECKS } from "./checks/requests/json-bodies.ts";
import { LIMIT_CHECKS } from "./checks/requests/limits.ts";
import { REQUEST_CHECKS } from "./checks/requests/requests.ts";
import { TOKEN_CHECKS } from "./checks/requests/tokens.ts";
import { COUNTER_CHECKS } from "./checks/service/counters.ts";
import { MODEL_CHECKS } from "./checks/service/models.ts";
import { OVERLOAD_CHECKS } from "./checks/service/overload.ts";
import { DOCUMENT_CHECKS, PAGE_CHECKS } from "./checks/service/pages.ts";
import { SERVER_CHECKS } from "./checks/service/server.ts";
import { TEXT_CHECKS } from "./checks/texts/texts.ts";
import { PROTOCOL_CHECKS } from "./dialects/mcp/protocol.ts";
import { TOOL_CHECKS } from "./dialects/mcp/tools.ts";
import { RERANK_CHECKS } from "./dialects/rerank.ts";
import { TYPESAFE_CHECKS } from "./dialects/typesafe.ts";
import type { Result } from "./run/report.ts";
import type { Check } from "./trial/check.ts";

/** Checks of one subject. */
export interface Subject {
  readonly title: string;
  readonly checks: readonly Check[];
}

/** Every check of the plain contract, by subject. */
export const SUBJECTS: readonly Subject[] = [
  { title: "Health and models", checks: [...SERVER_CHECKS, ...SERVER_SCHEMA_CHECKS] },
  { title: "Counters", checks: COUNTER_CHECKS },
  { title: "Names of the model", checks: MODEL_CHECKS },
  { title: "Answers", checks: [...SHAPE_CHECKS, ...ANSWER_SCHEMA_CHECKS, ...EVERY_ANSWER_CHECKS] },
  { title: "Arithmetic", checks: ARITHMETIC_CHECKS },
  { title: "Rankings", checks: RANKING_CHECKS },
  { title: "Order of members", checks: ORDER_CHECKS },
  { title: "Usage", checks: USAGE_CHECKS },
  { title: "Scores", checks: [...INDEPENDENCE_CHECKS, ...OWN_ANSWER_CHECKS, ...DEPENDENCE_CHECKS] },
  { title: "Requests", checks: REQUEST_CHECKS },
  { title: "JSON", checks: JSON_CHECKS },
  { title: "Aliases", checks: ALIAS_CHECKS },
  { title: "Texts", checks: TEXT_CHECKS },
  { title: "Limits", checks: [...LIMIT_CHECKS, ...TOKEN_CHECKS] },
  { title: "Keys", checks: AUTHENTICATION_CHECKS },
  { title: "Routes and headers", checks: ROUTE_CHECKS },
  { title: "Media types and order of checks", checks: MEDIA_CHECKS },
  { title: "Errors", checks: ERROR_CHECKS },
  { title: "Documentation", checks: [...PAGE_CHECKS, ...DOCUMENT_CHECKS] },
  { title: "Connections", checks: WIRE_CHECKS },
  { title: "Overload", checks: OVERLOAD_CHECKS },
];

/** The same checks in one list. */
export const CHECKS: readonly Check[] = SUBJECTS.flatMap(({ checks }) => checks);

/** Every check of the dialects, by dialect. */
export const DIALECT_SUBJECTS: readonly Subject[] = [
  { title: "TypeSafe", checks: TYPESAFE_CHECKS },
  { title: "Rerank", checks: RERANK_CHECKS },
  { title: "MCP", checks: [...PROTOCOL_CHECKS, ...TOOL_CHECKS] },
];

/** Every check of every profile. */
export const ALL_CHECKS: readonly Check[] = [...CHECKS, ...DIALECT_SUBJECTS.flatMap(({ checks }) => checks)];

/** Results of one subject, in the order of its checks. */
interface SubjectResults {
  readonly title: string;
  readonly results: readonly Result[];
}

/** Results by subject; subjects without any are left out. */
export function bySubject(results: readonly Result[]): readonly SubjectResults[] {
  return [...SUBJECTS, ...DIALECT_SUBJECTS]
    .map(({ title, checks }) => {
      const ids = new Set(checks.map(({ id }) => id));
      return { title, results: results.filter(({ id }) => ids.has(id)) };
    })
    .filter((subject) => subject.results.length > 0);
}
