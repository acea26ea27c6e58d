import type { Json } from "./json.ts";

/** Header values by lowercase name. Values of a repeated header are joined by ", ". */
export type HeaderFields = Readonly<Record<string, string>>;

/** Header fields from name and value pairs, in order. */
export function headerFields(lines: Iterable<readonly [name: string, value: string]>): HeaderFields {
  const fields = new Map<string, string>();
  for (const [given, value] of lines) {
    const name = given.toLowerCase();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(fields);
}

/** A request as it was sent. */
export interface SentRequest {
  readonly method: string;
  /** Absolute URL: base URL and path. */
  readonly url: string;
  /** The path below the base URL, without its query. */
  readonly path?: string | undefined;
  readonly headers: HeaderFields;
  /** The Unix socket that it was sent to, if not to the URL's host. */
  readonly socketPath?: string | undefined;
  readonly body?: string | Uint8Array | undefined;
  /** The bytes sent over a raw socket. If set, method, headers and body do not apply. */
  readonly raw?: string | Uint8Array | undefined;
}

/** The answer to a request. */
export interface Reply {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: HeaderFields;
  readonly text: string;
  /** The parsed JSON body; undefined if it is not JSON. */
  readonly json: Json | undefined;
  /** Time from sending the request to the end of the body. */
  readonly elapsedMs: number;
}

/** No complete answer: connection refused, reset or closed early, timeout, or not HTTP. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly request: SentRequest | undefined;

  constructor(message: string, request?: SentRequest, options: ErrorOptions = {}) {
    super(message, options);
    this.request = request;
  }
}

/** The most characters of a body in an excerpt. Chosen. */
export const LONGEST_EXCERPT = 300;

/** Status and the beginning of the body, for a report. */
export function excerpt({ status, headers, text }: Pick<Reply, "status" | "headers" | "text">): string {
  const type = headers["content-type"];
  const body =
    text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}... (${text.length} characters)` : text;
  return `${status}${type === undefined ? "" : ` ${type}`}${body === "" ? "" : `: ${body}`}`;
}
