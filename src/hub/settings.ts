import { readFile } from "node:fs/promises";
import path from "node:path";
import { codeOf, ServiceError } from "../errors.ts";
import type { Environment } from "../models/store/store.ts";

/** Settings of the hub client, from the variables of the hub's own tools. */
export interface HubSettings {
  /** Without a trailing slash. */
  readonly endpoint: string;
  /** Sent to the endpoint only. */
  readonly token: string | undefined;
  /** Cache of the hub's own tools. */
  readonly cache: string;
  /** Variable that forbids connections, if any. */
  readonly offlineBy: string | undefined;
  /** Maximum silence of a server. */
  readonly stallMs: number;
  readonly proxies: Proxies;
}

/** Proxy URLs, and the hosts to connect to without a proxy. */
export interface Proxies {
  readonly http: string;
  readonly https: string;
  readonly none: string;
}

const HUB = "https://huggingface.co";
/** Chosen: long enough for a slow connection, short enough to retry while a person waits. */
const STALL_SECONDS = 30;
const MAX_STALL_SECONDS = 3600;

/**
 * @param home the user's folder
 * @throws ServiceError INVALID_OPTION for an invalid variable. The message omits values that may be secret
 * @see https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
 */
export async function readHubSettings(env: Environment, home: string): Promise<HubSettings> {
  const expanded = (value: string) => value.replace(/^~(?=\/|$)/, home);
  const hubHome = expanded(
    env.HF_HOME || path.join(env.XDG_CACHE_HOME || path.join(home, ".cache"), "huggingface"),
  );
  return {
    endpoint: readEndpoint(env.HF_ENDPOINT || HUB),
    token: isTrue(env.HF_HUB_DISABLE_IMPLICIT_TOKEN)
      ? undefined
      : await readToken(env, expanded(env.HF_TOKEN_PATH || path.join(hubHome, "token"))),
    cache: expanded(env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || path.join(hubHome, "hub")),
    offlineBy: ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"].find((name) => isTrue(env[name])),
    stallMs: 1000 * readSeconds(env.HF_HUB_DOWNLOAD_TIMEOUT || String(STALL_SECONDS)),
    proxies: {
      http: readProxy("HTTP_PROXY", env.http_proxy || env.HTTP_PROXY),
      https: readProxy("HTTPS_PROXY", env.https_proxy || env.HTTPS_PROXY),
      none: env.no_proxy || env.NO_PROXY || "",
    },
  };
}

/** Reads a switch like the hub's own tools. */
const isTrue = (value: string | undefined) => ["1", "ON", "YES", "TRUE"].includes(value?.toUpperCase() ?? "");

function readEndpoint(value: string): string {
  const url = parsed(value);
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  if (!isPlain)
    throw invalid(
      "HF_ENDPOINT: expected an address like https://huggingface.co, without user and query, got another text.",
    );
  return url.href.replace(/\/+$/, "");
}

function readProxy(name: string, value: string | undefined): string {
  if (!value) return "";
  const url = parsed(value);
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== "") return url.href;
  throw invalid(
    `${name}: expected an address like http://proxy:3128 or http://user:password@proxy:3128, got another text.`,
  );
}

function readSeconds(value: string): number {
  const seconds = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (seconds >= 1 && seconds <= MAX_STALL_SECONDS) return seconds;
  throw invalid(
    `HF_HUB_DOWNLOAD_TIMEOUT: expected whole seconds from 1 to ${MAX_STALL_SECONDS}, got another value.`,
  );
}

async function readToken(env: Environment, file: string): Promise<string | undefined> {
  for (const name of ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"]) {
    const token = cleaned(name, env[name]);
    if (token !== undefined) return token;
  }
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
    throw invalid(`the token in ${file} cannot be read (${codeOf(error)}).`);
  });
  return cleaned(file, text);
}

function cleaned(source: string, text: string | undefined): string | undefined {
  const token = text?.replaceAll(/[\r\n]/g, "").trim();
  if (!token) return undefined;
  // characters that a header can carry
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw invalid(`${source} is not a valid token: it contains white space or non-ASCII characters.`);
}

function parsed(value: string): URL | undefined {
  try {
    return new URL(value);
  } catch {
    return undefined;
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_OPTION", message);
}
