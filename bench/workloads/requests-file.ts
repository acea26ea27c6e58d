import { type Issue, invalidOption, messageOf, ServiceError } from "../../src/errors.ts";
import { isRecord, parsedJson } from "../../src/records.ts";
import type { BenchRequest, Operation, Workload } from "./workload.ts";

/** Checks a request by the contract. @throws ServiceError INVALID_REQUEST */
export type Check = (operation: Operation, body: string) => Promise<unknown>;

export interface RequestsFile {
  readonly name: string;
  readonly text: string;
}

/**
 * A user's own workload. Each line of the file is the body of a systemone request (with `questions`) or a rank request.
 * Lines are sent unchanged, in order, starting over at the end. Blank lines are skipped.
 *
 * @param anyModel whether requests may name other models than that of the check
 * @throws ServiceError INVALID_OPTION naming the first line that cannot be sent, and why
 */
export async function readRequests(
  { name, text }: RequestsFile,
  check: Check,
  { anyModel }: { readonly anyModel: boolean },
): Promise<Workload> {
  const requests: BenchRequest[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const request = requestOf(line.trim());
    await check(request.operation, request.body).catch((error: unknown) => {
      const issues = error instanceof ServiceError ? error.issues : [];
      const left = issues.filter(({ type }) => !anyModel || type !== "unsupported_model");
      if (issues.length > 0 && left.length === 0) return;
      const reason = left[0] === undefined ? messageOf(error) : reasonOf(left[0]);
      throw invalidOption(`--requests ${name}, line ${i + 1}: ${reason}.`);
    });
    requests.push(request);
  }
  if (requests.length === 0) throw invalidOption(`--requests ${name} holds no request.`);
  return {
    name: "requests",
    title: `${requests.length} requests of ${name}`,
    request(_seed, index) {
      const request = requests[index % requests.length];
      if (!request) throw new Error("no such request");
      return request;
    },
  };
}

function requestOf(line: string): BenchRequest {
  const parsed = parsedJson(line);
  const body = isRecord(parsed) ? parsed : {};
  if (!("questions" in body)) {
    const labels = new Map([["", keysOf(body.candidates ?? body.answers)]]);
    return { operation: "rank", body: line, expectedStatus: 200, labels };
  }
  const questions = isRecord(body.questions) ? Object.entries(body.questions) : [];
  const labels = new Map(
    questions.map(([name, question]) => {
      const { type, criteria } = isRecord(question) ? question : {};
      return [name, type === "noul" ? ["false", "true"] : keysOf(criteria)];
    }),
  );
  return { operation: "systemone", body: line, expectedStatus: 200, labels };
}

/** Names of an object, positions of an array. */
function keysOf(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

const reasonOf = ({ loc, msg }: Issue) => `${loc.slice(1).join(".") || "body"}: ${msg.replace(/\.$/, "")}`;
