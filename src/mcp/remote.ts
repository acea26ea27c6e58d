import { writeJson } from "../json/write.ts";
import type { AskService } from "./call-tool.ts";

const ROUTES = {
  systemone: { method: "POST", path: "v1/systemone" },
  rank: { method: "POST", path: "v1/rank" },
  listModels: { method: "GET", path: "v1/models" },
} as const;

/** An error in the contract's format, so that it is described like the service's own errors. */
const failed = (status: number, detail: string) => ({
  status,
  headers: {},
  body: JSON.stringify({ detail }),
});

/**
 * Sends requests to a running service.
 *
 * @param url its base URL, with a path prefix if it has one
 * @param apiKey the key, if the service requires one
 */
export function askRemote(url: URL, apiKey: string | undefined): AskService {
  const base = url.href.endsWith("/") ? url.href : `${url.href}/`;
  return async ({ operationId, body, signal }) => {
    const { method, path } = ROUTES[operationId];
    const init = {
      method,
      signal,
      headers: {
        ...(method === "POST" ? { "content-type": "application/json" } : {}),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(method === "POST" ? { body: writeJson(body) } : {}),
    };
    try {
      const response = await fetch(new URL(path, base), init);
      const text = await response.text();
      if (response.status === 401)
        return failed(
          401,
          `The service at ${url.host} requires a key: set DECISION_API_KEY where this MCP server starts.`,
        );
      return { status: response.status, headers: retryAfter(response), body: text };
    } catch (error) {
      signal.throwIfAborted();
      return failed(503, `The service at ${url.host} cannot be reached: ${reasonOf(error)}.`);
    }
  };
}

function retryAfter({ headers }: Response): Record<string, string> {
  const seconds = headers.get("retry-after");
  return seconds === null ? {} : { "retry-after": seconds };
}

/** The system's reason: Node reports only "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === "object" && cause !== null && "code" in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : String(cause);
}
