import { readFile } from "node:fs/promises";
import { fileFault, invalidOption, invalidRequest, messageOf, ServiceError } from "../../src/errors.ts";
import { isRecord } from "../../src/records.ts";
import { utf8Text } from "../../src/utf8.ts";
import type { BenchRequest, Operation, Workload } from "./workload.ts";

/** Reads a request by the contract. @throws ServiceError INVALID_REQUEST */
export type Check = (request: BenchRequest) => Promise<unknown>;

/** The same check for servers with other models. */
export function ofAnyModel(check: Check): Check {
  return (request) =>
    check(request).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.kind !== "INVALID_REQUEST") throw error;
      const others = error.issues.filter(({ type }) => type !== "unsupported_model");
      if (others.length > 0) throw invalidRequest(others);
    });
}

/**
 * A user's own workload. Each line of the file is the body of a systemone request (with `questions`) or a rank request.
 * Lines are sent unchanged, in order, starting over at the end. Blank lines and a byte order mark are skipped.
 *
 * @throws ServiceError INVALID_OPTION naming the first line that cannot be sent, and why
 */
export async function readRequests(file: string, check: Check): Promise<Workload> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    const reason = fileFault(cause);
    throw new ServiceError("INVALID_OPTION", `--requests ${file} cannot be read: ${reason}.`, { cause });
  });
  const text = utf8Text(bytes, (fault) => invalidOption(`--requests ${file} ${fault}.`));
  const requests: BenchRequest[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const request = readLine(line);
    if (typeof request === "string") throw wrongLine(file, i + 1, request);
    await check(request).catch((error: unknown) => {
      throw wrongLine(file, i + 1, reasonOf(error));
    });
    requests.push(request);
  }
  if (requests.length === 0) throw new ServiceError("INVALID_OPTION", `--requests ${file} holds no request.`);
  return {
    name: "requests",
    title: `${requests.length} requests of ${file}`,
    isWarm: true,
    isOwn: true,
    request(_seed, index) {
      const request = requests[index % requests.length];
      if (!request) throw new Error("no such request");
      return request;
    },
  };
}

/** @returns the request, or the fault of the line */
function readLine(line: string): BenchRequest | string {
  let body: unknown;
  try {
    body = JSON.parse(line);
  } catch {
    return "it is not JSON";
  }
  if (!isRecord(body)) return "it is not a JSON object";
  const operation: Operation = "questions" in body ? "systemone" : "rank";
  if (operation === "rank" && !("candidates" in body || "answers" in body)) {
    return 'it has neither "questions" (systemone) nor "candidates" (rank)';
  }
  const labels = operation === "systemone" ? questionLabels(body.questions) : rankLabels(body);
  return { operation, body: line.trim(), expectedStatus: 200, labels };
}

function questionLabels(questions: unknown): ReadonlyMap<string, readonly string[]> {
  if (!isRecord(questions)) return new Map();
  return new Map(
    Object.entries(questions).map(([name, question]) => {
      const { type, criteria } = isRecord(question) ? question : {};
      return [name, type === "noul" ? ["false", "true"] : keysOf(criteria)];
    }),
  );
}

function rankLabels({
  candidates,
  answers,
}: Record<string, unknown>): ReadonlyMap<string, readonly string[]> {
  return new Map([["", keysOf(candidates ?? answers)]]);
}

/** Names of an object, positions of an array. */
function keysOf(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

function wrongLine(file: string, number: number, reason: string): ServiceError {
  return new ServiceError("INVALID_OPTION", `--requests ${file}, line ${number}: ${reason}.`);
}

function reasonOf(error: unknown): string {
  if (error instanceof ServiceError && error.issues[0]) {
    const { loc, msg } = error.issues[0];
    return `${loc.slice(1).join(".") || "body"}: ${msg.replace(/\.$/, "")}`;
  }
  return messageOf(error);
}
