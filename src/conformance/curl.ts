import { printCommand, quote } from "./body-recipe.ts";
import type { SentRequest } from "./exchange.ts";

/** Where the command line takes the key from: a report must not hold it. */
const KEY_VARIABLE = "$DECISION_API_KEY";

/**
 * A command line that sends the same request again. The key stands in it as a variable.
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
  args.push(quote(url));
  for (const [name, value] of Object.entries(headers)) {
    args.push(`-H ${value === "" ? quote(`${name};`) : withKey(`${name}: ${value}`, apiKey)}`);
  }
  if (body === undefined) return args.join(" ");
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (!names.includes("content-type")) args.push("-H 'content-type:'"); // else curl declares a form
  if (!names.includes("expect")) args.push("-H 'expect:'");
  const { inline, command } = printCommand(body);
  // curl reads a file when data begin with an @
  if (inline !== undefined && !inline.startsWith("'@")) return `${args.join(" ")} --data-binary ${inline}`;
  return `${command} | ${args.join(" ")} --data-binary @-`;
}

/** Bytes over a bare connection; curl speaks that as telnet, for TLS it takes openssl. */
function rawLine({ url }: SentRequest, raw: string | Uint8Array, apiKey: string | undefined): string {
  const { protocol, hostname, port } = new URL(url);
  const { command } = printCommand(raw);
  // outside of the single quotes, so that the shell puts the key in
  const print = apiKey === undefined ? command : command.replaceAll(apiKey, `'"${KEY_VARIABLE}"'`);
  const feed = `(${print}; sleep 2)`;
  if (protocol === "https:") return `${feed} | openssl s_client -quiet -connect ${hostname}:${port || 443}`;
  return `${feed} | curl -sS -N --max-time 5 telnet://${hostname}:${port || 80}`;
}

function withKey(header: string, apiKey: string | undefined): string {
  if (apiKey === undefined || !header.includes(apiKey)) return quote(header);
  return quote(header).replaceAll(apiKey, `'"${KEY_VARIABLE}"'`);
}
