import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileFault, ServiceError } from "../../errors.ts";
import { WHOLE_PRECISIONS, wholeGraph } from "../../models/architectures/whole-graph.ts";
import { shortName } from "../../models/store/store.ts";
import { utf8Text } from "../../utf8.ts";
import type { BackendChoice, BegunBackend } from "../backend.ts";
import { RemoteClient } from "./client.ts";
import { RemoteBackend } from "./remote-backend.ts";

/** `--backend remote`: another server computes. */
export function beginRemote(choice: BackendChoice): BegunBackend {
  const precision = WHOLE_PRECISIONS.find((each) => each === choice.precision) ?? "int8";
  const { remote } = choice;
  if (!remote) throw invalid("The backend remote needs --remote-url, the address of a server.");
  const url = remote.remoteUrl.replace(/\/+$/, "");
  return {
    open({ modelPackage, clock, hasVectors = false, log }) {
      const client = new RemoteClient({
        url,
        connections: remote.remoteConnections,
        timeoutMs: remote.remoteTimeoutMs,
        connectTimeoutMs: remote.remoteConnectTimeoutMs,
        ca: readCertificates(remote.remoteCa),
        token: readToken(remote.remoteTokenFile, remote.token),
      });
      return new RemoteBackend({
        client,
        url,
        name: remote.remoteModel || shortName(modelPackage.manifest),
        expected: `${modelPackage.manifest.id} in ${precision}`,
        graph: () => wholeGraph(modelPackage, precision),
        connections: remote.remoteConnections,
        hasVectors,
        clock,
        log,
      });
    },
    precisionOf: () => precision,
    abandon: () => {},
  };
}

/** @throws ServiceError INVALID_OPTION */
function readCertificates(file: string): string | undefined {
  if (file === "") return undefined;
  const pem = read("--remote-ca", file).toString("latin1"); // PEM is ASCII, but for remarks
  try {
    new X509Certificate(pem); // checked here, because TLS connections ignore invalid certificates silently
  } catch (cause) {
    throw invalid(
      `--remote-ca: expected a file of certificates in PEM format, got ${file}, which does not begin with one.`,
      cause,
    );
  }
  return pem;
}

/** @throws ServiceError INVALID_OPTION */
function readToken(file: string, given: string | undefined): string | undefined {
  const [source, token] =
    file === ""
      ? ["DECISION_REMOTE_TOKEN", given]
      : ["--remote-token-file", utf8Text(read("--remote-token-file", file), wrongEncoding).trim()];
  if (token === undefined || (file === "" && token === "")) return undefined;
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw invalid(`${source} must hold a token of visible ASCII characters without white space.`);
}

const wrongEncoding = (fault: string) => invalid(`--remote-token-file: the file ${fault}.`);

/** @throws ServiceError INVALID_OPTION */
function read(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw invalid(`${flag}: the file cannot be read: ${fileFault(cause)}.`, cause);
  }
}

const invalid = (message: string, cause?: unknown) => new ServiceError("INVALID_OPTION", message, { cause });
