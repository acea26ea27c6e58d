import { readFileSync, watchFile } from "node:fs";
import { Server as TlsServer } from "node:https";
import { createSecureContext } from "node:tls";
import type { FastifyInstance } from "fastify";
import { codeOf, fileFault, invalidOption } from "../../errors.ts";
import { KeyRing } from "../../keys/key-ring.ts";
import type { ServiceOptions } from "../../options/table.ts";
import type { Log } from "../../server/log.ts";
import type { TlsFiles } from "../../server/wire/listener.ts";

/**
 * Polling interval of files. Polling instead of events, because a mounted secret is replaced by a link to another
 * folder. Chosen: a person who revokes a key hardly notices a second.
 */
const LOOK_EACH_MS = 1_000;

/** @returns the keys; undefined if none is configured @throws ServiceError INVALID_OPTION */
export function keyRingOf({ keysFile }: ServiceOptions, apiKey: string | undefined): KeyRing | undefined {
  const file = keysFile === "" ? undefined : keysFile;
  return file === undefined && apiKey === undefined ? undefined : new KeyRing({ apiKey, file });
}

/** @returns certificate and private key; undefined without TLS @throws ServiceError INVALID_OPTION */
export function readTls({ tlsCert, tlsKey }: ServiceOptions): TlsFiles | undefined {
  if (tlsCert === "" && tlsKey === "") return undefined;
  if (tlsCert === "" || tlsKey === "")
    throw invalidOption("--tls-cert and --tls-key must be given together.");
  const files = { cert: readPem("--tls-cert", tlsCert), key: readPem("--tls-key", tlsKey) };
  try {
    createSecureContext(files);
    return files;
  } catch (cause) {
    const code = codeOf(cause) ?? String(cause);
    throw invalidOption(
      code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH"
        ? `--tls-key ${tlsKey} is not the private key of the certificate in --tls-cert ${tlsCert}.`
        : `--tls-cert ${tlsCert} and --tls-key ${tlsKey} must be a PEM certificate and its PEM private key without a passphrase (${code}).`,
    );
  }
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw invalidOption(`${flag} ${file} cannot be read: ${fileFault(cause)}.`);
  }
}

export interface Reloaded {
  readonly options: ServiceOptions;
  readonly keys: KeyRing | undefined;
  readonly server: FastifyInstance;
  readonly log: Log;
}

/**
 * Reloads keys and certificate when their files change. An invalid file is logged and ignored.
 *
 * @returns reloads them now
 */
export function reloadOnChange({ options, keys, server, log }: Reloaded): () => void {
  const { keysFile, tlsCert, tlsKey } = options;
  const reload = (what: string, read: () => void) => () => {
    try {
      read();
      log.info({ what }, "reloaded");
    } catch (error) {
      log.error({ what, err: error }, "cannot be reloaded: the previous content stays in use");
    }
  };
  const reloads: (() => void)[] = [];
  const watch = (files: readonly string[], onChange: () => void) => {
    reloads.push(onChange);
    for (const file of files) watchFile(file, { interval: LOOK_EACH_MS, persistent: false }, onChange);
  };
  if (keysFile !== "")
    watch(
      [keysFile],
      reload("keys", () => keys?.reload()),
    );
  const secure = server.server;
  if (secure instanceof TlsServer) {
    const read = () => {
      const files = readTls(options);
      if (files !== undefined) secure.setSecureContext(files);
    };
    watch([tlsCert, tlsKey], reload("certificate", read));
  }
  return () => {
    for (const each of reloads) each();
  };
}
