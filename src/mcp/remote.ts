import { writeJson } from "../json/write.ts";
import { reasonOf, type ServiceAddress, serviceFetch } from "../service-address.ts";
import type { AskService } from "./call-tool.ts";

const ROUTES = {
  systemone: { method: "POST", path: "/v1/systemone" },
  rank: { method: "POST", path: "/v1/rank" },
  listModels: { method: "GET", path: "/v1/models" },
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
 * @param apiKey the key, if the service requires one
 */
export function askRemote(address: ServiceAddress, apiKey: string | undefined): AskService {
  const send = serviceFetch(address);
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
      const response = await send(path, init);
      const text = await response.text();
      if (response.status === 401)
        return failed(
          401,
          `The service at ${address.name} requires a key: set DECISION_API_KEY where this MCP server starts.`,
        );
      return { status: response.status, headers: retryAfter(response), body: text };
    } catch (error) {
      signal.throwIfAborted();
      return failed(503, `The service at ${address.name} cannot be reached: ${reasonOf(error)}.`);
    }
  };
}

function retryAfter({ headers }: Pick<Response, "headers">): Record<string, string> {
  const seconds = headers.get("retry-after");
  return seconds === null ? {} : { "retry-after": seconds };
}
