import { isIP } from "node:net";
import { invalidOption } from "../errors.ts";
import type { ServiceOptions } from "./table.ts";

/**
 * Fewest characters of a key that guards an address of other hosts. Chosen: so many random ones cannot be tried over a
 * network.
 */
const MIN_KEY_LENGTH = 16;

/**
 * Refuses to serve other hosts without a key, unless the operator allows it, and with a key that can be guessed.
 *
 * @throws ServiceError INVALID_OPTION
 */
export function checkExposure(options: ServiceOptions, apiKey: string | undefined): void {
  const hasKey = apiKey !== undefined || options.keysFile !== "";
  const isLocal = options.socket !== "" || isLoopback(options.host);
  if (!isLocal && apiKey !== undefined && apiKey.length < MIN_KEY_LENGTH)
    throw invalidOption(
      `--host ${options.host} can be reached from other hosts: expected a DECISION_API_KEY of at least ${MIN_KEY_LENGTH} characters, ` +
        `got ${apiKey.length}. \`openssl rand -hex 32\` makes one.`,
    );
  if (hasKey || options.allowUnauthenticated || isLocal) return;
  throw invalidOption(
    `--host ${options.host} can be reached from other hosts: set DECISION_API_KEY or --keys-file, or pass --allow-unauthenticated.`,
  );
}

/**
 * Refuses to send traces to another host where no connection to one is wanted.
 *
 * @throws ServiceError INVALID_OPTION
 */
export function checkTraces({ offline }: ServiceOptions, endpoint: string | undefined): void {
  if (endpoint === undefined) return;
  if (!URL.canParse(endpoint))
    throw invalidOption(
      "OTEL_EXPORTER_OTLP_ENDPOINT takes the URL of a collector, such as http://127.0.0.1:4318.",
    );
  const { hostname } = new URL(endpoint);
  if (!offline || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"))) return;
  throw invalidOption(
    "OTEL_EXPORTER_OTLP_ENDPOINT names another host, which --offline forbids: unset one of them.",
  );
}

/**
 * Refuses addresses that cannot work: one port for requests and metrics, and what no browser sends as an origin or a
 * host.
 *
 * @throws ServiceError INVALID_OPTION
 */
export function checkAddresses({
  port,
  metricsPort,
  socket,
  metrics,
  corsOrigin,
  allowedHost,
}: ServiceOptions): void {
  if (metrics && socket === "" && metricsPort !== 0 && metricsPort === port)
    throw invalidOption(
      `--metrics-port: expected another port than --port, got ${port}; 0 serves the metrics on --port.`,
    );
  const wrong = corsOrigin.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong !== undefined)
    throw invalidOption(
      `--cors-origin: expected scheme and host as browsers send them, such as https://shop.example, or *, got ${JSON.stringify(wrong.slice(0, 60))}.`,
    );
  const noHost = allowedHost.find((host) => !isIP(host) && !/^[\w.-]*\w$/.test(host));
  if (noHost === undefined) return;
  throw invalidOption(
    `--allowed-host: expected a host name without scheme and port, such as decisions.example.org, got ${JSON.stringify(noHost.slice(0, 60))}.`,
  );
}

/**
 * Without path, and in lower case: origins are compared as texts. Those of browser extensions have schemes of their
 * own.
 */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, host } = new URL(text);
  return text === (origin === "null" && host !== "" ? `${protocol}//${host}` : origin);
}

/**
 * The key from the environment.
 *
 * @throws ServiceError INVALID_OPTION for a key that no header can carry
 */
export function readApiKey(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const key = env.DECISION_API_KEY;
  if (key === undefined || key === "") return undefined;
  // RFC 9110, 5.5: a field value neither begins nor ends with white space and holds no control characters
  if (key.trim() === key && !/[\p{Cc}]/u.test(key)) return key;
  throw invalidOption(
    "DECISION_API_KEY: expected a text without control characters and without white space at its ends, got another.",
  );
}

/** The token for the server at `--remote-url`, from the environment. */
export function readRemoteToken(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env.DECISION_REMOTE_TOKEN || undefined;
}

/** 127.0.0.0/8, ::1 and localhost. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Whether systemd has passed a socket that listens already.
 *
 * @param pid of this process: the variables may be meant for the one that started it
 * @throws ServiceError INVALID_OPTION for several sockets
 */
export function readPassedSocket(env: Readonly<Record<string, string | undefined>>, pid: number): boolean {
  if (env.LISTEN_PID !== String(pid)) return false;
  if (env.LISTEN_FDS === "1") return true;
  throw invalidOption(
    `LISTEN_FDS is ${JSON.stringify(env.LISTEN_FDS)}: the service takes one socket from systemd.`,
  );
}
