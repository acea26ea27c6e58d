import { NoAnswer, type Reply } from "../client/exchange.ts";
import type { HttpClient } from "../client/http.ts";
import { at, isList, isMap, leavesOf } from "../client/json.ts";
import type { Target } from "../client/target.ts";
import { CONTRACT_LIMITS, type Limits, readLimits } from "./limits.ts";
import { RANK, SMALL, SMALL_RANK, SYSTEMONE } from "./operations.ts";

/** What the first requests show about the server. Later checks use it. */
export interface Facts {
  readonly health: Reply;
  /** The model's full id, from an answer or a list; undefined if unknown. */
  readonly modelId: string | undefined;
  /** Aliases listed by `/v1/models` or `/health`. */
  readonly aliases: readonly string[];
  /** Whether inference without a key is refused for that reason. */
  readonly wantsKey: boolean;
  /** Why a missing or wrong key prevents inference; undefined if it does not. */
  readonly noInference: string | undefined;
  /** Why neither inference operation answers; undefined if one does, even with an error. */
  readonly deadInference: string | undefined;
  readonly limits: Limits;
  /** Why this is not a server of the contract, and what to try; undefined if it may be one. */
  readonly foreign: string | undefined;
  /** Requests sent to gather these facts. */
  readonly requests: number;
}

export const FULL_ID = /^[^/@\s]+\/[^/@\s]+@[0-9a-f]{40}$/;
export const JSON_TYPE = { "content-type": "application/json" };

const NO_KEY = "the server requires a key and none was given (DECISION_API_KEY)";

/** Pause between two requests to a server that is not ready yet. Chosen. */
const READY_PAUSE_MS = 500;

/**
 * Gathers what every check needs to know.
 *
 * @throws NoAnswer if no server answers, or it does not become ready in time
 */
export async function gatherFacts(target: Target, client: HttpClient, signal: AbortSignal): Promise<Facts> {
  let requests = 0;
  const get = (path: string) => {
    requests += 1;
    return client.call({ method: "GET", path, headers: {}, signal });
  };
  const infer = (path: string, body: unknown, headers = {}) => {
    requests += 1;
    const all = { ...JSON_TYPE, ...headers };
    return client.call({ method: "POST", path, headers: all, body: JSON.stringify(body), signal });
  };
  const health = await readyHealth(get, target.timeoutMs);
  const settled = await Promise.allSettled([
    get("/v1/models"),
    infer(RANK, SMALL_RANK),
    infer(SYSTEMONE, SMALL),
  ]);
  signal.throwIfAborted();
  const [models, openRank, systemone] = settled.map((one) =>
    one.status === "fulfilled" ? one.value : undefined,
  );
  const open = [openRank ?? [], systemone ?? []].flat();
  const { apiKey } = target;
  const wantsKey = open.some(isRefusal);
  const authorization = `Bearer ${apiKey}`;
  const keyed =
    wantsKey && apiKey !== undefined
      ? await infer(RANK, SMALL_RANK, { authorization }).catch(() => undefined)
      : undefined;
  const rank = keyed ?? openRank;
  const inferences = keyed === undefined ? open : [keyed];
  const listed = models === undefined ? [] : [models];
  const isRefused = inferences.length > 0 && inferences.every(isRefusal);
  const [failure] = settled
    .slice(1)
    .flatMap((one) => (one.status === "rejected" ? [messageOf(one.reason)] : []));
  return {
    health,
    wantsKey,
    modelId: findModelId([...inferences, ...listed, health]),
    aliases: findAliases([...listed, health]),
    noInference: isRefused ? (apiKey === undefined ? NO_KEY : "the server refuses the given key") : undefined,
    deadInference: open.length === 0 ? `neither inference operation answers: ${failure}` : undefined,
    limits: readLimits(health.json),
    foreign: models && rank && systemone && foreignReason(target, models, rank, systemone),
    requests,
  };
}

/** A request that shows whether a server of a dialect requires a key. */
export interface FirstRequest {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The same for a dialect. Uses only the dialect's own operations, since a server may have no others.
 *
 * @throws NoAnswer if no server answers
 */
export async function gatherDialectFacts(
  first: FirstRequest,
  { apiKey }: Target,
  client: HttpClient,
  signal: AbortSignal,
): Promise<Facts> {
  const headers = { ...JSON_TYPE, ...first.headers };
  const body = JSON.stringify(first.body);
  const health = await client.call({ method: "POST", path: first.path, headers, body, signal });
  const wantsKey = isRefusal(health);
  return {
    health,
    modelId: undefined,
    aliases: [],
    wantsKey,
    noInference: wantsKey && apiKey === undefined ? NO_KEY : undefined,
    deadInference: undefined,
    limits: CONTRACT_LIMITS,
    foreign: undefined,
    requests: 1,
  };
}

/** Whether a request was refused for its key. 403 is the wrong status but means the same. */
function isRefusal({ status }: Reply): boolean {
  return status === 401 || status === 403;
}

/**
 * Explains why a server is not one of this contract, with what was seen and what to try; undefined if it may be one.
 */
function foreignReason(
  { base, name }: Target,
  models: Reply,
  rank: Reply,
  systemone: Reply,
): string | undefined {
  const isListed = models.status === 200 && isList(at(models.json, "models"));
  if (isListed || isOperation(rank) || isOperation(systemone)) return undefined;
  const brief = ({ status, headers }: Reply) =>
    `${status} ${headers["content-type"] ?? "without a content type"}`;
  const seen = [
    `GET /v1/models gave ${brief(models)}`,
    `POST ${RANK} ${brief(rank)}`,
    `POST ${SYSTEMONE} ${brief(systemone)}`,
  ];
  const tries = [
    ...(base.pathname === "/" ? [] : [`leave ${base.pathname.replace(/\/+$/, "")} off the address`]),
    ...([models, rank, systemone].some(isRefusal) ? ["give the key (DECISION_API_KEY)"] : []),
    "try another port or another path in front of /v1/models",
  ];
  return `What answers at ${name} is not a server of this contract (${seen.join(", ")}): ${tries.join(", or ")}.`;
}

/** Whether an inference operation of the contract can have given this answer, be it an error or a wrong answer. */
function isOperation({ status, json }: Reply): boolean {
  return (
    ![404, 405, 501].includes(status) &&
    ["answers", "ranked", "detail"].some((name) => at(json, name) !== undefined)
  );
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

/** Waits until the server is ready, since it may still be loading its model. */
async function readyHealth(get: (path: string) => Promise<Reply>, timeoutMs: number): Promise<Reply> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const health = await get("/health");
    // a 503 without JSON comes from a proxy without a server behind it, or from another kind of server
    if (health.status !== 503 || !isMap(health.json)) return health;
    if (performance.now() > end)
      throw new NoAnswer(`the server was not ready (503) within ${timeoutMs / 1000} s`, health.request);
    await new Promise((resolve) => setTimeout(resolve, READY_PAUSE_MS));
  }
}

function findModelId(replies: readonly Reply[]): string | undefined {
  for (const { json } of replies) {
    if (json === undefined) continue;
    const found = leavesOf(json).find(({ value }) => typeof value === "string" && FULL_ID.test(value));
    if (typeof found?.value === "string") return found.value;
  }
  return undefined;
}

function findAliases(replies: readonly Reply[]): readonly string[] {
  const lists = replies.flatMap(({ json }) => [at(json, "models", 0, "aliases"), at(json, "aliases")]);
  const names = lists.flatMap((list) => (isList(list) ? list : []));
  return [...new Set(names.filter((name): name is string => typeof name === "string"))];
}
