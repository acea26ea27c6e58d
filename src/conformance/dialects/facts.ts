import type { HttpClient } from "../client/http.ts";
import type { Target } from "../client/target.ts";
import type { Facts } from "../trial/facts.ts";
import { JSON_TYPE } from "../trial/facts.ts";
import { CONTRACT_LIMITS } from "../trial/limits.ts";

/** The request that tells whether a server of a dialect wants a key. */
export interface FirstRequest {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What the checks of a dialect build on. Nothing but the dialect's own operations is asked: a server of it need not have those
 * of the plain contract.
 *
 * @throws NoAnswer when nothing answers at all
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
  const noKey = "the server wants a key and none was given (--api-key or DECISION_API_KEY)";
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
