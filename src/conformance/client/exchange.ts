import type { Json } from "./json.ts";

/** Names in small letters; a header that came more than once has its values joined by ", ". */
export type HeaderFields = Readonly<Record<string, string>>;

/** Fields by name from lines as they came, in their order. */
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
  /** Absolute: base address and path. */
  readonly url: string;
  readonly headers: HeaderFields;
  readonly body?: string | Uint8Array | undefined;
  /** The request went out as these bytes over a bare socket; method, headers and body say nothing then. */
  readonly raw?: string | Uint8Array | undefined;
}

/** What came back for it. */
export interface Reply {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: HeaderFields;
  readonly text: string;
  /** The body read as JSON; undefined where it is not JSON. */
  readonly json: Json | undefined;
  /** From sending the request to the end of the body. */
  readonly elapsedMs: number;
}

/** No whole answer came: refused, reset, cut off, too late, or not HTTP. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly request: SentRequest | undefined;

  constructor(message: string, request?: SentRequest, options: ErrorOptions = {}) {
    super(message, options);
    this.request = request;
  }
}

/** The beginning of an answer, for a report. */
export function excerpt({ status, headers, text }: Pick<Reply, "status" | "headers" | "text">): string {
  const type = headers["content-type"];
  const body = text.length > 300 ? `${text.slice(0, 300)}... (${text.length} characters)` : text;
  return `${status}${type === undefined ? "" : ` ${type}`}${body === "" ? "" : `: ${body}`}`;
}
