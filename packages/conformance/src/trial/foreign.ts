import type { Reply } from "../client/exchange.ts";
import { at, isList, isMap } from "../client/json.ts";
import type { Target } from "../client/target.ts";
import { RANK, SYSTEMONE } from "./operations.ts";

/** The first answers of a server; undefined where there was none. */
export interface FirstAnswers {
  readonly models: Reply | undefined;
  readonly rank: Reply | undefined;
  readonly systemone: Reply | undefined;
}

/** Statuses that mean that the operation does not exist. */
const NO_OPERATION = [404, 405, 501];

/**
 * Explains why a server is not one of this contract, with what was seen and what to try; undefined if it may be one.
 *
 * @param models sends GET <address>/v1/models for another address of the same server
 */
export async function foreignReason(
  { base, name }: Target,
  { models, rank, systemone }: FirstAnswers,
  ask: (address: URL) => Promise<Reply | undefined>,
): Promise<string | undefined> {
  if (models === undefined || rank === undefined || systemone === undefined) return undefined;
  if (hasModels(models) || isOperation(rank) || isOperation(systemone)) return undefined;
  const seen = [
    `GET /v1/models gave ${brief(models)}`,
    `POST ${RANK} ${brief(rank)}`,
    `POST ${SYSTEMONE} ${brief(systemone)}`,
  ].join(", ");
  return `What answers at ${name} is not a server of this contract (${seen}): ${await advice(base, [models, rank, systemone], ask)}.`;
}

async function advice(
  base: URL,
  replies: readonly Reply[],
  ask: (address: URL) => Promise<Reply | undefined>,
): Promise<string> {
  for (const path of shorterPaths(base.pathname)) {
    const address = new URL(path, base.origin);
    const found = await ask(address);
    if (found !== undefined && hasModels(found))
      return `there is one at ${address.href}, so give that address`;
  }
  const tries = [
    ...(/\/v1\/*$/.test(base.pathname) ? ["leave /v1 off the address"] : []),
    ...(replies.some(({ status }) => status === 401 || status === 403)
      ? ["give the key (DECISION_API_KEY)"]
      : []),
    "try another port",
    base.pathname === "/"
      ? "the path in front of /v1/models, if there is one"
      : "another path in front of /v1/models",
  ];
  return tries.join(", or ");
}

/** The path without its last segment, and the empty path. */
function shorterPaths(path: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.length === 0) return [];
  return [...new Set([`/${parts.slice(0, -1).join("/")}`, "/"])];
}

function hasModels({ status, json }: Reply): boolean {
  return status === 200 && isList(at(json, "models"));
}

/** Whether an inference operation of the contract can have given this answer, be it an error or a wrong answer. */
function isOperation({ status, json }: Reply): boolean {
  if (NO_OPERATION.includes(status) || !isMap(json)) return false;
  return ["answers", "ranked", "detail"].some((member) => json.has(member));
}

function brief({ status, headers }: Reply): string {
  const type = headers["content-type"]?.split(";")[0];
  return type === undefined ? String(status) : `${status} ${type}`;
}
