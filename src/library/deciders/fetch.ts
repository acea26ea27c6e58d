import type { FastifyInstance } from "fastify";
import { REQUEST_LIMITS } from "../../decisions/request.ts";

/** Headers that belong to one connection. @see RFC 9110, 7.6.1 */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"]);
const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

/** Passes a Fetch API request to a web server in this process and returns its answer. */
export async function answerWith(app: FastifyInstance, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const headers: Record<string, string> = {};
  for (const [name, value] of request.headers) if (!HOP_BY_HOP.has(name)) headers[name] = value;
  const payload = await bytesOf(request.body);
  const answer = await app.inject({
    method: request.method as "GET", // any method name: the server refuses unknown ones
    url: pathname + search,
    headers,
    signal: request.signal,
    ...(payload.length > 0 && { payload }),
  });
  const hasBody = request.method !== "HEAD" && !STATUSES_WITHOUT_BODY.has(answer.statusCode);
  return new Response(hasBody ? new Uint8Array(answer.rawPayload) : null, {
    status: answer.statusCode,
    headers: answerHeaders(answer.headers),
  });
}

function answerHeaders(sent: Readonly<Record<string, unknown>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    if (HOP_BY_HOP.has(name) || value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, String(each));
  }
  return headers;
}

/** Reads a body, but not much more than the limit: the server then refuses it. */
async function bytesOf(body: ReadableStream<Uint8Array> | null): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > REQUEST_LIMITS.maxBodyBytes) break;
  }
  return Buffer.concat(chunks);
}
