import { NoAnswer, type Reply } from "../client/exchange.ts";
import { type Call, HttpClient } from "../client/http.ts";
import { at, isList, isMap, leavesOf } from "../client/json.ts";
import type { Target } from "../client/target.ts";
import { foreignReason } from "./foreign.ts";
import { type Limits, readLimits } from "./limits.ts";
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

/** Pause between two requests to a server that is not ready yet. Chosen. */
const READY_PAUSE_MS = 500;

/**
 * Gathers what every check needs to know.
 *
 * @throws NoAnswer if no server answers, or it does not become ready in time
 */
export async function gatherFacts(target: Target, client: HttpClient, signal: AbortSignal): Promise<Facts> {
  let requests = 0;
  const call = (given: Omit<Call, "signal">, by = client) => {
    requests += 1;
    return by.call({ ...given, signal });
  };
  const get = (path: string) => call({ method: "GET", path, headers: {} });
  const infer = (path: string, body: unknown, key: string | undefined) =>
    call({
      method: "POST",
      path,
      headers: { ...JSON_TYPE, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
    });
  const health = await readyHealth(get, target.timeoutMs);
  const [models, openRank, openSystemone] = await Promise.allSettled([
    get("/v1/models"),
    infer(RANK, SMALL_RANK, undefined),
    infer(SYSTEMONE, SMALL, undefined),
  ]);
  signal.throwIfAborted();
  const open = [openRank, openSystemone].flatMap((one) => settledValue(one) ?? []);
  const wantsKey = open.some(isRefusal);
  const keyed =
    wantsKey && target.apiKey !== undefined
      ? await infer(RANK, SMALL_RANK, target.apiKey).catch(() => undefined)
      : undefined;
  const foreign = await foreignReason(
    target,
    {
      models: settledValue(models),
      rank: keyed ?? settledValue(openRank),
      systemone: settledValue(openSystemone),
    },
    (base) => {
      const other = new HttpClient({ ...target, base });
      return call({ method: "GET", path: "/v1/models", headers: {} }, other)
        .catch(() => undefined)
        .finally(() => other.close());
    },
  );
  const inferences = keyed === undefined ? open : [keyed];
  const listed = [settledValue(models)].flatMap((one) => one ?? []);
  const isRefused = inferences.length > 0 && inferences.every(isRefusal);
  return {
    health,
    wantsKey,
    modelId: findModelId([...inferences, ...listed, health]),
    aliases: findAliases([...listed, health]),
    noInference: isRefused ? noInferenceReason(target.apiKey !== undefined) : undefined,
    deadInference:
      openRank.status === "rejected" && openSystemone.status === "rejected"
        ? `neither inference operation answers: ${messageOf(openRank.reason)}`
        : undefined,
    limits: readLimits(health.json),
    foreign,
    requests,
  };
}

function settledValue(settled: PromiseSettledResult<Reply>): Reply | undefined {
  return settled.status === "fulfilled" ? settled.value : undefined;
}

/** Whether a request was refused for its key. 403 is the wrong status but means the same. */
function isRefusal({ status }: Reply): boolean {
  return status === 401 || status === 403;
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

function noInferenceReason(hasKey: boolean): string {
  return hasKey
    ? "the server refuses the given key"
    : "the server requires a key and none was given (DECISION_API_KEY)";
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
