import type { components } from "../generated/types.ts";
import type { Linked } from "./link.ts";
import type { Issue } from "./places.ts";

export type Health = components["schemas"]["Health"];
export type Decisions = components["schemas"]["Decisions"];
export type Ranking = components["schemas"]["Ranking"];

/** What became of a request. */
export type Outcome =
  | {
      readonly kind: "answered";
      readonly reply: Decisions | Ranking;
      readonly text: string;
      readonly roundTripMs: number;
    }
  | { readonly kind: "invalid"; readonly issues: readonly Issue[]; readonly requestId: string }
  | { readonly kind: "failed"; readonly failure: Failure };

export interface Failure {
  /** The header `x-decision-error`, or UNREACHABLE. */
  readonly code: string;
  readonly status?: number;
  readonly message: string;
  readonly requestId: string;
  readonly retryAfterSeconds?: number;
}

/** An address below that of the page. */
export const addressOf = (path: string): string =>
  new URL(path, document.baseURI.replace(/[?#].*$/s, "")).href;

/** Sends a request. Rejects only when it is aborted. */
export async function send({ operation, body }: Linked, key: string, signal: AbortSignal): Promise<Outcome> {
  const headers = {
    "content-type": "application/json",
    ...(key === "" ? {} : { authorization: bearer(key) }),
  };
  const startedAt = performance.now();
  try {
    const address = addressOf(`v1/${operation}`);
    const response = await fetch(address, { method: "POST", headers, body, signal, credentials: "omit" });
    const text = await response.text();
    const roundTripMs = performance.now() - startedAt;
    const reply = JSON.parse(text);
    if (response.ok) return { kind: "answered", reply, text, roundTripMs };
    return refusal(response, reply.detail);
  } catch (error) {
    if (signal.aborted) throw error;
    const message = "The service does not answer. Is it still running at this address?";
    return { kind: "failed", failure: { code: "UNREACHABLE", message, requestId: "" } };
  }
}

/** A header carries bytes: those of the key's UTF-8, one character each. */
function bearer(key: string): string {
  const bytes = new TextEncoder().encode(key);
  return `Bearer ${Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")}`;
}

function refusal({ status, headers }: Response, detail: unknown): Outcome {
  const requestId = headers.get("x-request-id") ?? "";
  if (Array.isArray(detail)) return { kind: "invalid", issues: detail, requestId };
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  const failure = {
    code: headers.get("x-decision-error") ?? String(status),
    status,
    message: String(detail),
    requestId,
    ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
  };
  return { kind: "failed", failure };
}

/** The service's report, also while it is not ready. @throws where nobody answers */
export async function readHealth(): Promise<Health> {
  const response = await fetch(addressOf("health"), { credentials: "omit" });
  return await response.json();
}
