import { ERROR_KINDS, type ErrorKind, type Issue, invalidRequest, ServiceError } from "../../errors.ts";
import { memberOf, parsedJson } from "../../records.ts";
import { reasonOf, serviceAddress, serviceFetch } from "../../service-address.ts";
import { type Ask, type Decider, type Operation, typedCalls } from "./decider.ts";
import { cancelled, ownSignal, WaitingLine } from "./waiting-line.ts";

/** The most concurrent requests. Chosen: enough to fill the service's batches, and half of its queue. */
const PLACES = 64;

export interface ConnectOptions {
  /** The service's key, if it requires one. */
  readonly apiKey?: string | undefined;
}

/**
 * A decider that uses a running service of the same contract. It does not connect before the first call, and never to
 * another host.
 *
 * @param url the service's base URL, for example http://127.0.0.1:8700, or http+unix:///run/decision.sock
 * @throws ServiceError INVALID_OPTION for another URL
 */
export function connectDecider(url: string, { apiKey }: ConnectOptions = {}): Decider {
  const address = serviceAddress(url);
  const base = address.name;
  const post = serviceFetch(address);
  const headers = {
    "content-type": "application/json",
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  const line = new WaitingLine(PLACES);

  async function send(operation: Operation, body: string, signal: AbortSignal) {
    const { response, text } = await exchange(operation, body, signal);
    if (response.status === 200) return text;
    throw errorOf(response, text, base);
  }

  async function exchange(operation: Operation, body: string, signal: AbortSignal) {
    try {
      const response = await post(`/v1/${operation}`, { method: "POST", headers, body, signal });
      return { response, text: await response.text() };
    } catch (cause) {
      if (signal.aborted) throw cancelled(signal);
      throw new ServiceError("UNREACHABLE", `the service at ${base} does not answer: ${reasonOf(cause)}.`, {
        cause,
      });
    }
  }

  const ask: Ask = async (operation, body, options = {}) => {
    const signal = ownSignal(options.signal);
    return line.run(() => send(operation, body, signal), signal);
  };

  const decider = {
    ...typedCalls(ask),
    ask,
    close: () => line.close(),
    [Symbol.asyncDispose]: () => decider.close(),
  };
  return decider;
}

/** Error kinds by status, for servers that send no error code. This service always sends one. */
const KINDS: Readonly<Record<number, ErrorKind>> = {
  400: "MALFORMED_HTTP",
  401: "UNAUTHORIZED",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  413: "BODY_TOO_LARGE",
  422: "INVALID_REQUEST",
  500: "BACKEND_FAILED",
  503: "OVERLOADED",
  504: "DEADLINE_EXCEEDED",
};

/** The error that the service reported. One of another kind of server becomes INTERNAL. */
function errorOf(
  { status, headers }: Pick<Response, "status" | "headers">,
  text: string,
  base: string,
): ServiceError {
  const detail = memberOf(parsedJson(text), "detail");
  if (status === 422 && Array.isArray(detail)) return invalidRequest(detail as Issue[]); // the format that the contract defines
  const code = headers.get("x-decision-error");
  const kind = ERROR_KINDS.find((each) => each === code) ?? KINDS[status];
  if (kind === undefined || typeof detail !== "string")
    return new ServiceError(
      "INTERNAL",
      `${base} answered with status ${status}, but not in the format of this service. Check the URL.`,
    );
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return new ServiceError(kind, detail, Number.isInteger(seconds) ? { retryAfterSeconds: seconds } : {});
}
