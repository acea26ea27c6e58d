import type { Operation } from "./request.ts";

/** What a link holds: the request as it is sent, never the key. */
export interface Linked {
  readonly operation: Operation;
  readonly body: string;
}

/** The bound of a body; a link that unpacks to more is no link of ours. */
const MAX_BODY_BYTES = 2_097_152;

/**
 * A request as the fragment of an address, which browsers send to no server: the operation, and the body packed by
 * DEFLATE in base64url.
 */
export async function toFragment({ operation, body }: Linked): Promise<string> {
  const packed = new Blob([body]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#${operation}=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** @returns undefined for a fragment that holds no request */
export async function fromFragment(fragment: string): Promise<Linked | undefined> {
  const [, operation, packed] = /^#(systemone|rank)=([\w-]+)$/.exec(fragment) ?? [];
  if ((operation !== "systemone" && operation !== "rank") || packed === undefined) return undefined;
  try {
    const text = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return { operation, body: await textOf(stream) };
  } catch {
    return undefined; // cut off, or made by hand
  }
}

/** @throws Error on more than a body may have, or on bytes that are no UTF-8 */
async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = stream.getReader();
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      await reader.cancel();
      throw new Error("larger than a body may be");
    }
    text += decoder.decode(value, { stream: true });
  }
}
