import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { operations } from "../../test/contract/document.ts";
import { assertDeclared, assertProtocolError, OPERATIONS } from "../../test/contract/response-check.ts";
import { MARK } from "./cases.mjs";

/** Files of the documentation pages. The contract says only that they come from this server. */
const PAGE_FILE = /^\/(docs|redoc)\//;

/**
 * Performs the steps on a new connection and reads until there are as many answers as requests. Then it closes its side
 * and waits until the server closes too, to detect additional answers.
 *
 * @param steps texts and bytes to send, `{ pauseMs }`, `end` to close this side, `reset` to drop the connection
 * @param requests their methods, which determine whether answers have a body
 * @returns answers, bytes after the last one, and whether the server neither answered everything nor closed in time
 */
export async function exchange(port, { steps, requests }, boundMs) {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true });
  const chunks = [];
  let parsed = { answers: [], rest: "" };
  const isClosed = new Promise((resolve) => {
    socket.on("error", () => {}); // a reset also ends the connection
    socket.on("close", () => resolve(true));
    socket.on("end", () => socket.end(() => resolve(true)));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      parsed = parseAnswers(Buffer.concat(chunks), requests);
      if (parsed.answers.length >= requests.length) socket.end();
    });
  });
  void play(socket, steps);
  const isInTime = await Promise.race([isClosed, sleep(boundMs, false, { ref: false })]);
  socket.destroy();
  return { ...parsed, isHung: !isInTime };
}

async function play(socket, steps) {
  for (const step of steps) {
    if (!socket.writable) return;
    if (step === "end") socket.end();
    else if (step === "reset") socket.resetAndDestroy();
    else if (step.pauseMs !== undefined) await sleep(step.pauseMs, undefined, { ref: false });
    else socket.write(step, "latin1");
  }
}

/** A strict parser: bytes that are not an HTTP/1.1 answer stay in `rest`. */
function parseAnswers(bytes, requests) {
  const answers = [];
  let at = 0;
  for (;;) {
    const split = bytes.indexOf("\r\n\r\n", at);
    if (split < 0) break;
    const [statusLine, ...lines] = bytes.toString("latin1", at, split).split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) /.exec(statusLine)?.[1]);
    if (!status) break;
    const headers = lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    const isBodiless = requests[answers.length]?.method === "HEAD" || status < 200 || status === 304;
    const length = isBodiless ? 0 : Number(Object.fromEntries(headers)["content-length"] ?? 0);
    if (!Number.isSafeInteger(length) || bytes.length < split + 4 + length) break;
    at = split + 4 + length;
    if (status >= 200) answers.push({ status, headers, body: bytes.toString("utf8", split + 4, at) });
  }
  return { answers, rest: bytes.toString("latin1", at, at + 500) };
}

/** Faults of the service's answers to a case; empty if there are none. */
export function faultsOf({ requests, answers: [least, most], mayBreakOff }, { answers, rest, isHung }) {
  const faults = [];
  if (isHung) faults.push("not finished in time");
  if (rest !== "" && !mayBreakOff) faults.push(`not an HTTP answer: ${JSON.stringify(rest)}`);
  if (answers.length < least || answers.length > most)
    faults.push(`${answers.length} answers, expected ${least} to ${most}`);
  for (const [at, answer] of answers.entries()) faults.push(...answerFaults(answer, requests[at] ?? {}));
  return faults;
}

function answerFaults(answer, { method, target, statuses, requestId }) {
  const { status, headers, body } = answer;
  const names = headers.map(([name]) => name);
  const id = Object.fromEntries(headers)["x-request-id"];
  const faults = {
    "a status that was not expected": statuses !== undefined && !statuses.includes(status),
    "an error of the service": status >= 500 && ![501, 503, 504].includes(status),
    "a repeated value": status >= 400 && body.includes(MARK),
    "a file of this machine": body.includes("root:x:0:"),
    "an injected header": names.includes("x-injected") || new Set(names).size < names.length,
    "another request id": requestId !== undefined && status !== 400 && id !== requestId,
    ...(method === "HEAD" ? {} : { [contractFault(answer, method, target)]: true }),
  };
  const found = Object.keys(faults).filter((name) => faults[name] && name !== "undefined");
  return found.map((name) => `${status}, ${name}: ${body.slice(0, 300)}`);
}

/** How the answer violates the contract. @param target undefined if the request's target is ambiguous */
function contractFault(answer, method, target) {
  if (answer.status < 400 && PAGE_FILE.test(target ?? "")) return undefined;
  const operation = OPERATIONS[`${method} ${target}`];
  const isUnknown = method === undefined || target === undefined;
  const candidates = isUnknown
    ? operations.map(({ operationId }) => operationId)
    : operation
      ? [operation]
      : [];
  const faults = [...candidates, undefined].map((candidate) => undeclaredBy(candidate, answer));
  return faults.includes(undefined) ? undefined : faults[0];
}

/** @param operation undefined for answers that belong to no operation */
function undeclaredBy(operation, { status, headers, body }) {
  const received = Object.fromEntries(headers);
  try {
    const value = received["content-type"]?.startsWith("application/json") ? JSON.parse(body) : body;
    if (operation === undefined) assertProtocolError(status, received, value);
    else assertDeclared(operation, status, received, value);
    return undefined;
  } catch (error) {
    return error.message;
  }
}
