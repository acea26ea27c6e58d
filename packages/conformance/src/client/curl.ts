import { splitAtKey } from "./api-key.ts";
import { type PrintCommand, printCommand, quote } from "./body-recipe.ts";
import type { SentRequest } from "./exchange.ts";

/**
 * A command line that repeats the request. The key and its near misses are replaced by an environment variable.
 *
 * @param apiKey the key that the request may contain
 */
export function curlLine(request: SentRequest, apiKey: string | undefined): string {
  return request.raw === undefined ? httpLine(request, apiKey) : rawLine(request, request.raw, apiKey);
}

function httpLine({ method, url, headers, body }: SentRequest, apiKey: string | undefined): string {
  const args = ["curl -sS -i --path-as-is --max-time 60"];
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
function rawLine({ url }: SentRequest, raw: string | Uint8Array, apiKey: string | undefined): string {
  const { protocol, hostname, port } = new URL(url);
  const feed = `(${printWithKey(raw, apiKey).command}; sleep 2)`;
  if (protocol === "https:") return `${feed} | openssl s_client -quiet -connect ${hostname}:${port || 443}`;
  return `${feed} | curl -sS -N --max-time 5 telnet://${hostname}:${port || 80}`;
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
