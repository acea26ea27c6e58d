import { splitAtKey } from "./api-key.ts";
import { type PrintCommand, printCommand, quote } from "./body-recipe.ts";
import type { SentRequest } from "./exchange.ts";

/**
 * A command line that sends the same request again. The key, and what is nearly the key, stands in it as a variable.
 *
 * @param apiKey the key that the request may hold
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
  if (!names.includes("content-type")) args.push("-H 'content-type:'"); // else curl declares a form
  if (!names.includes("expect")) args.push("-H 'expect:'");
  const { inline, command } = printWithKey(body, apiKey);
  // curl reads a file when data begin with an @
  if (inline !== undefined && !inline.startsWith("'@")) return `${args.join(" ")} --data-binary ${inline}`;
  return `${command} | ${args.join(" ")} --data-binary @-`;
}

/** Bytes over a bare connection; curl speaks that as telnet, for TLS it takes openssl. */
function rawLine({ url }: SentRequest, raw: string | Uint8Array, apiKey: string | undefined): string {
  const { protocol, hostname, port } = new URL(url);
  const feed = `(${printWithKey(raw, apiKey).command}; sleep 2)`;
  if (protocol === "https:") return `${feed} | openssl s_client -quiet -connect ${hostname}:${port || 443}`;
  return `${feed} | curl -sS -N --max-time 5 telnet://${hostname}:${port || 80}`;
}

/** One word of a shell that gives this text. */
function shellWord(text: string, apiKey: string | undefined): string {
  const words = splitAtKey(text, apiKey).map((one) => ("word" in one ? one.word : quote(one.plain)));
  return words.join("") || quote("");
}

/** Prints a body; where it holds the key, stretch by stretch. */
function printWithKey(body: string | Uint8Array, apiKey: string | undefined): PrintCommand {
  // any bytes are characters of latin1, and those of the key are the same there
  const stretches = splitAtKey(Buffer.from(body).toString("latin1"), apiKey);
  if (stretches.every((one) => "plain" in one)) return printCommand(body);
  const commands = stretches.map((one) =>
    "word" in one ? `printf %s ${one.word}` : printCommand(Buffer.from(one.plain, "latin1")).command,
  );
  return { command: `{ ${commands.join("; ")}; }` };
}
