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
  for (const [name, value] of Object.entries(headers)) {
    args.push(`-H ${shellWord(value === "" ? `${name};` : `${name}: ${value}`, apiKey)}`);
  }
  if (body === undefined) return args.join(" ");
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (!names.includes("content-type")) args.push("-H 'content-type:'"); // else curl adds the content type of a form
  if (!names.includes("expect")) args.push("-H 'expect:'");
  const { inline, command } = printWithKey(body, apiKey);
  // curl would read a file if the data began with @
  if (inline !== undefined && !inline.startsWith("'@")) return `${args.join(" ")} --data-binary ${inline}`;
  return `${command} | ${args.join(" ")} --data-binary @-`;
}

/** Sends bytes over a raw connection: curl with a telnet URL, or openssl for TLS. */
function rawLine(request: SentRequest, raw: string | Uint8Array, apiKey: string | undefined): string {
  const { protocol, hostname, port } = new URL(request.url);
  const feed = `(${printWithKey(raw, apiKey).command}; sleep 2)`;
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

/** A command that prints a body. A body that contains the key is printed in parts. */
function printWithKey(body: string | Uint8Array, apiKey: string | undefined): PrintCommand {
  // latin1 maps every byte to one character and leaves the ASCII key unchanged
  const stretches = splitAtKey(Buffer.from(body).toString("latin1"), apiKey);
  if (stretches.every((one) => "plain" in one)) return printCommand(body);
  const commands = stretches.map((one) =>
    "word" in one ? `printf %s ${one.word}` : printCommand(Buffer.from(one.plain, "latin1")).command,
  );
  return { command: `{ ${commands.join("; ")}; }` };
}

/** Bodies of up to so many characters are printed literally. Chosen. */
const PLAIN_CHARACTERS = 1500;

/** A shell command that prints given bytes. */
export interface PrintCommand {
  /** The quoted text, if it can be an argument of a command line. */
  readonly inline?: string;
  readonly command: string;
}

/** A shell command that prints exactly these bytes: the quoted text, or if it is long, the compressed bytes. */
function printCommand(body: string | Uint8Array): PrintCommand {
  const text = exactText(body);
  if (text !== undefined && text.length <= PLAIN_CHARACTERS) {
    if (/^\P{Cc}*$/u.test(text)) return { inline: quote(text), command: `printf %s ${quote(text)}` };
    return { command: `printf %b ${quote(escaped(text))}` };
  }
  const packed = gzipSync(body, { level: 9 }).toString("base64");
  return { command: `printf %s ${packed} | base64 -d | gunzip` };
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
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The body as text; undefined if it is not valid UTF-8. */
function exactText(body: string | Uint8Array): string | undefined {
  if (typeof body === "string") return body;
  const text = Buffer.from(body).toString("utf8");
  return Buffer.from(text, "utf8").equals(Buffer.from(body)) ? text : undefined;
}
