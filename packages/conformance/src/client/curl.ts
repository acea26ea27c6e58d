import { gzipSync } from "node:zlib";
import { splitAtKey } from "./api-key.ts";
import type { SentRequest } from "./exchange.ts";

/**
 * A command line that repeats the request. The key and its near misses are replaced by an environment variable.
 *
 * @param apiKey the key that the request may contain
 */
export function curlLine(request: SentRequest, apiKey: string | undefined): string {
  return request.raw === undefined ? httpLine(request, apiKey) : rawLine(request, request.raw, apiKey);
}

function httpLine(request: SentRequest, apiKey: string | undefined): string {
  const { method, url, headers, body } = request;
  const args = [`curl -sS -i --path-as-is --max-time 60${socketFlag(request)}`];
  if (method === "HEAD") args.push("--head");
  else if (method !== "GET" || body !== undefined) args.push(`-X ${method}`);
  args.push(shellWord(url, apiKey));
  for (const [name, value] of Object.entries(headers))
    args.push(`-H ${shellWord(value === "" ? `${name};` : `${name}: ${value}`, apiKey)}`);
  if (body === undefined) return args.join(" ");
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (!names.includes("content-type")) args.push("-H 'content-type:'"); // else curl adds the content type of a form
  if (!names.includes("expect")) args.push("-H 'expect:'");
  const text = shortText(Buffer.from(body));
  const isArgument = text !== undefined && /^(?!@)\P{Cc}*$/u.test(text); // curl reads a file if the data begins with @
  if (isArgument && splitAtKey(text, apiKey).length < 2)
    return `${args.join(" ")} --data-binary ${shellWord(text, apiKey)}`;
  return `${printCommand(body, apiKey)} | ${args.join(" ")} --data-binary @-`;
}

/** Sends bytes over a raw connection: curl with a telnet URL, or openssl for TLS. */
function rawLine(request: SentRequest, raw: string | Uint8Array, apiKey: string | undefined): string {
  const { protocol, hostname, port } = new URL(request.url);
  const feed = `(${printCommand(raw, apiKey)}; sleep 2)`;
  if (protocol === "https:") return `${feed} | openssl s_client -quiet -connect ${hostname}:${port || 443}`;
  return `${feed} | curl -sS -N --max-time 5${socketFlag(request)} telnet://${hostname}:${port || 80}`;
}

function socketFlag({ socketPath }: SentRequest): string {
  return socketPath === undefined ? "" : ` --unix-socket ${quote(socketPath)}`;
}

/** A shell word that expands to this text. */
function shellWord(text: string, apiKey: string | undefined): string {
  const words = splitAtKey(text, apiKey).map((one) => ("word" in one ? one.word : quote(one.plain)));
  return words.join("") || quote("");
}

/** A command that prints these bytes; in parts, if they contain the key. */
function printCommand(body: string | Uint8Array, apiKey: string | undefined): string {
  // latin1 maps every byte to one character and leaves the ASCII key unchanged
  const commands = splitAtKey(Buffer.from(body).toString("latin1"), apiKey).map((one) => {
    if ("word" in one) return `printf %s ${one.word}`;
    const bytes = Buffer.from(one.plain, "latin1");
    const text = shortText(bytes);
    if (text !== undefined) return `printf %b ${quote(escaped(text))}`;
    return `printf %s ${gzipSync(bytes, { level: 9 }).toString("base64")} | base64 -d | gunzip`;
  });
  return commands.length === 1 ? commands.join() : `{ ${commands.join("; ")}; }`;
}

/** For `printf %b`: control characters as octal escapes, which every shell reads. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n")
    .replaceAll(/\p{Cc}/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join(""),
    );
}

/** The text in single quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Bodies of up to so many bytes are printed literally. Chosen. */
const PLAIN_BYTES = 1500;

/** The body as text; undefined if it is long or not valid UTF-8. */
function shortText(body: Buffer): string | undefined {
  const text = body.toString("utf8");
  return body.length <= PLAIN_BYTES && Buffer.from(text).equals(body) ? text : undefined;
}
