import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../errors.ts";
import { headerValues } from "../wire/headers.ts";

/**
 * Throws KEY_MISSING or UNAUTHORIZED unless the request carries the key.
 *
 * @param takesBareKey whether the header may hold the key alone, without `Bearer `
 */
export type KeyCheck = (request: Pick<IncomingMessage, "rawHeaders">, takesBareKey?: boolean) => void;

const BEARER = /^bearer +(.+)$/i;

/**
 * The check of `Authorization: Bearer <key>`: the scheme in any case, exactly one header with exactly the key.
 *
 * Digests are compared, so that neither the time nor the length tells anything of the key. Node decodes header
 * bytes as latin1: read back as latin1 they are the bytes that the caller sent, and the key's are its UTF-8.
 */
export function createKeyCheck(apiKey: string): KeyCheck {
  const wanted = sha256(Buffer.from(apiKey, "utf8"));
  return ({ rawHeaders }, takesBareKey = false) => {
    const values = headerValues(rawHeaders, "authorization");
    const [value = "", ...others] = values;
    const given = BEARER.exec(value)?.[1] ?? (takesBareKey ? value : "");
    const isKey = timingSafeEqual(sha256(Buffer.from(given, "latin1")), wanted);
    if (isKey && given !== "" && others.length === 0) return;
    throw new ServiceError(
      values.length === 0 ? "KEY_MISSING" : "UNAUTHORIZED",
      "A valid key is required: send it as `Authorization: Bearer <key>`.",
    );
  };
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
