import { invalidOption } from "./resolve.ts";
import type { ServiceOptions } from "./table.ts";

/**
 * Refuses to serve other hosts without a key, unless the operator allows it.
 *
 * @throws ServiceError INVALID_OPTION
 */
export function checkExposure(options: ServiceOptions, apiKey: string | undefined): void {
  if (apiKey !== undefined || options.allowUnauthenticated || isLoopback(options.host)) return;
  throw invalidOption(
    `--host ${options.host} can be reached from other hosts: set DECISION_API_KEY, or pass --allow-unauthenticated.`,
  );
}

/** 127.0.0.0/8, ::1 and localhost. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * The key from the environment.
 *
 * @throws ServiceError INVALID_OPTION for a key that no header can carry
 */
export function readApiKey(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const key = env.DECISION_API_KEY;
  if (key === undefined || key === "") return undefined;
  // RFC 9110, 5.5: a field value neither begins nor ends with white space and holds no control characters
  if (key.trim() === key && !/[\p{Cc}]/u.test(key)) return key;
  throw invalidOption(
    "DECISION_API_KEY takes a text without control characters and without white space at its ends.",
  );
}
