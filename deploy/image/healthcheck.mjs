// Ends with 0 when the service in this container is ready. Finds it by the variables of its options; flags are not seen
// here.
import http from "node:http";
import https from "node:https";

const { DECISION_HOST = "", DECISION_PORT, DECISION_SOCKET, DECISION_TLS_CERT } = process.env;
// on all addresses: ask at the loopback
const LOOPBACK = { "": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1" };
const address = DECISION_SOCKET
  ? { socketPath: DECISION_SOCKET }
  : { host: LOOPBACK[DECISION_HOST] ?? DECISION_HOST, port: DECISION_PORT || 8700 };
// the certificate is for the name that clients use
const { get } = DECISION_TLS_CERT ? https : http;
get({ ...address, path: "/ready", rejectUnauthorized: false, timeout: 4_000 }, (response) => {
  process.exit(response.statusCode === 200 ? 0 : 1);
})
  .on("timeout", () => process.exit(1))
  .on("error", () => process.exit(1));
