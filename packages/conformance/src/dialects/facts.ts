import type { HttpClient } from "../client/http.ts";
import type { Target } from "../client/target.ts";
import type { Facts } from "../trial/facts.ts";
import { JSON_TYPE } from "../trial/facts.ts";
import { CONTRACT_LIMITS } from "../trial/limits.ts";

/** A request that shows whether a server of a dialect requires a key. */
export interface FirstRequest {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Gathers what the checks of a dialect need to know. Uses only the dialect's own operations, since a server may have no
 * others.
 *
 * @throws NoAnswer if no server answers
 */
export async function gatherDialectFacts(
  { path, body, headers = {} }: FirstRequest,
  target: Target,
  client: HttpClient,
  signal: AbortSignal,
): Promise<Facts> {
  const open = await client.call({
    method: "POST",
    path,
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
    signal,
  });
  const wantsKey = open.status === 401 || open.status === 403;
  const noKey = "the server requires a key and none was given (DECISION_API_KEY)";
  return {
    health: open,
    modelId: undefined,
    aliases: [],
    wantsKey,
    noInference: wantsKey && target.apiKey === undefined ? noKey : undefined,
    deadInference: undefined,
    limits: CONTRACT_LIMITS,
    foreign: undefined,
    requests: 1,
  };
}
