import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isList, isMap, type Json, show } from "../../client/json.ts";
import { type Check, checksOf, type Draft, keylessChecksOf } from "../../trial/check.ts";
import type { Limits } from "../../trial/limits.ts";
import { NOUL, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { asked, issuesIn, requestOf, toRank } from "../cases.ts";
import { choiceOf, labelled, numbered, scoreOf, sizesOf, texts } from "../scored.ts";

/** The words of the contract for what is wrong with a request. */
const TYPES = [
  ...["media_type", "invalid_json", "duplicate_member", "nesting_too_deep", "wrong_type", "missing"],
  ...["unknown_field", "unknown_value", "too_few", "too_many", "alias_conflict", "blank", "not_distinct"],
  ...["unsupported_model", "too_many_pairs", "too_many_tokens"],
];
const MOST_ISSUES = 20;
const LONGEST_NAME = 100;

/** Checks of error bodies. */
export const ERROR_CHECKS: readonly Check[] = [
  ...keylessChecksOf("interface: Errors", {
    "errors.detail": lookingBack({
      clause: "An error body has `detail`: a string, or for schema errors a list.",
      expected: "a JSON object with such a `detail` in each 401, 413, 422, 500, 503 and 504 of the run",
      look: (trial: Trial, reply) => {
        // a 503 of /health and /ready has the body of a report, not of an error
        if (reply.request.method !== "POST" || ![401, 413, 422, 500, 503, 504].includes(reply.status)) return;
        const detail = at(reply.json, "detail");
        trial.expect(typeof detail === "string" || isList(detail), excerpt(reply), reply);
      },
    }),
  }),
  ...keylessChecksOf("contract: Errors", {
    "errors.issues": lookingBack({
      clause:
        "The `detail` of a 422 is a list of 1 to 20 issues `{loc, msg, type}`; that of any other error is a string.",
      expected:
        "exactly these members, `loc` from `body` down, `type` of the closed set; for each error of the run",
      needsInference: true,
      look: (trial: Trial, reply) => {
        if (reply.request.method === "HEAD") return;
        const detail = at(reply.json, "detail");
        if (reply.status === 503 && isMap(reply.json) && detail === undefined) return; // /health, not ready
        const isAlone = isMap(reply.json) && reply.json.size === 1;
        trial.expect(isAlone, `more than \`detail\`: ${excerpt(reply)}`, reply);
        if (reply.status === 422) checkIssues(trial, reply, detail);
        else trial.expect(typeof detail === "string" && detail !== "", excerpt(reply), reply);
      },
    }),
    "errors.code": lookingBack({
      clause: "The header `x-decision-error` gives the code of each error.",
      expected: "a code of the contract that fits the status, with each status of 400 and above of the run",
      look: (trial: Trial, reply) => {
        const code = reply.headers["x-decision-error"];
        const { method, path } = reply.request;
        const came = `x-decision-error is ${show(code ?? null)} with ${reply.status}, ${method} ${path}`;
        trial.expect(codesOf(reply).includes(code ?? ""), came, reply);
      },
    }),
    "errors.no-echo": lookingBack({
      clause: "An error never repeats values of the request.",
      expected: "a marker word from values of requests is in no error body or header of the run",
      more: async (trial) => {
        await trial.each(faultyRequests(trial.facts.limits), (fault) => send(trial, fault));
        await trial.call("GET", `/nowhere/${MARK}?x=${MARK}`);
        await trial.call("PUT", `${RANK}?x=${MARK}`, { body: { state: MARK } });
      },
      look: (trial: Trial, reply) => {
        const isRepeated = reply.text.includes(MARK) || JSON.stringify(reply.headers).includes(MARK);
        trial.expect(!isRepeated, excerpt(reply), reply);
      },
    }),
    "errors.json": lookingBack({
      clause: "Every answer except pages is UTF-8 JSON and declared as such.",
      expected: "`content-type: application/json` and a JSON body in each answer of the run",
      from: 200,
      look: (trial: Trial, reply) => {
        const { status, headers, json, request } = reply;
        const isPage = /^\/(docs|redoc)\b/.test(request.path ?? "");
        if (request.method === "HEAD" || (isPage && status < 400)) return;
        const type = headers["content-type"] ?? "";
        const isJson = /^application\/json *(;.*charset="?utf-?8"?.*|;(?!.*charset).*)?$/i.test(type);
        trial.expect(isJson && json !== undefined, excerpt(reply), reply);
      },
    }),
  }),
  ...checksOf("contract: Errors", {
    "errors.type": {
      clause: "`type` is the contract's word for what is wrong.",
      expected: "for each fault its type",
      run: (trial) => checkFaults(trial, (issue, { type }) => at(issue, "type") === type),
    },
    "errors.loc": {
      clause: "`loc` is the path from `body` to the fault, with the names used in the request.",
      expected: "the path to each fault",
      run: (trial) =>
        checkFaults(trial, (issue, { loc }) => loc.every((step, index) => at(issue, "loc", index) === step)),
    },
    "errors.bounded": {
      clause:
        "A 422 has at most 20 issues; names in it have at most 100 characters and are not cut within a character.",
      expected: "a short answer to a request with thousands of faults or with a name of 100,000 characters",
      run: (trial: Trial) =>
        trial.eachOf(excessive(trial.facts.limits), async (body) => {
          const reply = await trial.post(SYSTEMONE, body);
          if (reply.status !== 422) return; // other checks report this
          const issues = issuesIn(trial, reply);
          trial.expect(issues.length <= MOST_ISSUES, `${issues.length} issues`, reply);
          for (const issue of issues) {
            const loc = at(issue, "loc");
            for (const step of isList(loc) ? loc.map(String) : []) {
              const isWhole = [...step].length <= LONGEST_NAME && !/\p{Surrogate}/u.test(step);
              trial.expect(isWhole, `loc names ${show(step)}`, reply);
            }
            const isShort = String(at(issue, "msg")).length < 1000;
            trial.expect(isShort, "a `msg` of 1,000 characters and more", reply);
          }
        }),
    },
  }),
  ...checksOf("contract: Question", {
    "errors.names-types": {
      clause: "The 422 for an unknown question type names the three valid types.",
      expected: "`choice`, `noul` and `score` in `msg`",
      run: async (trial: Trial) => {
        const reply = await trial.post(SYSTEMONE, asked({ type: "other", instructions: "i" }));
        if (reply.status !== 422) trial.skip(`${reply.status}, not 422: see request.question-type`);
        issuesIn(trial, reply);
        const isNamed = ["choice", "noul", "score"].every((type) => reply.text.includes(type));
        trial.expect(isNamed, excerpt(reply), reply);
      },
    },
  }),
];

interface LookBack extends Omit<Draft, "run"> {
  /** The lowest status of answers to look at. Default: 400. */
  readonly from?: number;
  /** Sends further requests first. */
  readonly more?: (trial: Trial) => Promise<unknown>;
  readonly look: (trial: Trial, reply: Reply) => void;
}

/** A look at every error of the run. A few are provoked first, so that there are some. */
function lookingBack({ from = 400, more, look, ...draft }: LookBack): Draft {
  return {
    ...draft,
    turn: "last",
    run: async (trial) => {
      await trial.post(RANK, { state: MARK });
      await trial.post(RANK, `{"state":"${MARK}`);
      await trial.get("/nowhere");
      await trial.get(RANK);
      await more?.(trial);
      for (const reply of trial.seen) if (reply.status >= from) look(trial, reply);
    },
  };
}

/** Error codes by status. Which code of 503 is right depends on the server's state; other checks test that. */
const CODES: Readonly<Record<number, string>> = {
  400: "MALFORMED_HTTP",
  401: "KEY_MISSING UNAUTHORIZED",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  408: "HEADERS_TIMEOUT",
  412: "CONDITION_FAILED",
  413: "BODY_TOO_LARGE",
  416: "CONDITION_FAILED",
  417: "EXPECTATION_FAILED",
  422: "INVALID_REQUEST",
  429: "RATE_LIMITED",
  431: "HEADERS_TOO_LARGE",
  500: "BACKEND_FAILED INTERNAL",
  503: "QUEUE_FULL OVERLOADED STARTING DRAINING TOO_MANY_CONNECTIONS BACKEND_FAILED INTERNAL",
  504: "DEADLINE_EXCEEDED",
};

function codesOf({ status, request }: Reply): readonly string[] {
  if (status === 401 && request.headers.authorization === undefined) return ["KEY_MISSING"];
  if (status === 401 && /^Bearer \S/.test(request.headers.authorization ?? "")) return ["UNAUTHORIZED"];
  return CODES[status]?.split(" ") ?? [];
}

function checkIssues(trial: Trial, reply: Reply, detail: Json | undefined): void {
  trial.expect(isList(detail), `detail is ${show(detail)}`, reply);
  trial.expect(detail.length >= 1 && detail.length <= MOST_ISSUES, `${detail.length} issues`, reply);
  for (const issue of detail) {
    const [loc, msg, type] = [at(issue, "loc"), at(issue, "msg"), at(issue, "type")];
    const isPlace =
      isList(loc) &&
      loc[0] === "body" &&
      loc.every((step) => typeof step === "string" || Number.isInteger(step));
    const isTold = typeof msg === "string" && msg !== "" && TYPES.includes(String(type));
    trial.expect(isMap(issue) && issue.size === 3 && isPlace && isTold, `the issue ${show(issue)}`, reply);
  }
}

/** A request with one fault, and the issue that its 422 must have. */
interface FaultyRequest {
  readonly name: string;
  /** The `type` of that issue. */
  readonly type: string;
  /** The beginning of that issue's `loc`. */
  readonly loc: readonly (string | number)[];
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(trial: Trial, { body, headers = {} }: FaultyRequest): Promise<Reply> {
  return trial.post(...requestOf(body), { headers });
}

async function checkFaults(
  trial: Trial,
  fits: (issue: Json, fault: FaultyRequest) => boolean,
): Promise<void> {
  let refused = 0;
  await trial.each(faultyRequests(trial.facts.limits), async (fault) => {
    const reply = await send(trial, fault);
    if (reply.status !== 422) return; // other checks report this
    refused += 1;
    const isFitting = issuesIn(trial, reply).some((issue) => fits(issue, fault));
    trial.expect(isFitting, `no issue ${fault.type} at ${fault.loc.join(".")}: ${excerpt(reply)}`, reply);
  });
  if (refused === 0) trial.skip("none of the faults was answered 422");
}

/** A text longer than the contract's token limits. */
const TOO_LONG = "go ".repeat(9000);

/** A faulty request for each `type`, and some whose `loc` must have the alias that the request used. */
function faultyRequests({ maxQuestions, maxCandidates, maxPairs }: Limits): readonly FaultyRequest[] {
  const noulOf = (criteria: unknown) => asked({ ...NOUL, criteria });
  const tooMany = texts(maxCandidates + 1);
  const questions = sizesOf(maxPairs + 1, maxCandidates).map((size) => choiceOf(labelled(texts(size))));
  const tooManyPairs = Object.fromEntries(questions.map((one, index) => [`n${index}`, one]));
  const fault = (name: string, type: string, place: string, body: unknown, headers = {}): FaultyRequest => {
    const loc = place.split(" ").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    return { name, type, loc, body, headers };
  };
  const about = (questions: unknown) => ({ state: MARK, questions });
  const ranking = (candidates: unknown) => toRank({ state: "s", candidates });
  const criteria = "body questions q criteria";
  return [
    fault("a media type", "media_type", "body", SMALL, { "content-type": "text/plain" }),
    fault("broken JSON", "invalid_json", "body", `{"state":"${MARK}`),
    fault("a duplicate", "duplicate_member", "body", `{"state":"${MARK}","state":1,"questions":{}}`),
    fault("deep nesting", "nesting_too_deep", "body", "[".repeat(200)),
    fault("a missing member", "missing", "body", { state: MARK }),
    fault("missing instructions", "missing", "body questions q", asked({ type: "noul" })),
    fault("an unknown member", "unknown_field", "body", { ...SMALL, extra: MARK }),
    fault("another of a question", "unknown_field", "body questions q", asked({ ...NOUL, extra: MARK })),
    fault("an unknown type", "unknown_value", "body questions q", asked({ type: MARK, instructions: "i" })),
    fault("a text as questions", "wrong_type", "body questions", about(MARK)),
    fault("a number to rank", "wrong_type", "body candidates 1", ranking([MARK, 5])),
    fault(
      "a long state",
      "too_many_tokens",
      "body context",
      toRank({ context: TOO_LONG, candidates: ["a", "b"] }),
    ),
    fault("a long outcome under its alias", "too_many_tokens", `${criteria} yes`, noulOf({ yes: TOO_LONG })),
    fault("equal answers", "not_distinct", "body answers 1", toRank({ state: "s", answers: [MARK, MARK] })),
    fault("one label", "too_few", criteria, asked(choiceOf({ a: MARK }))),
    fault("no question", "too_few", "body questions", about({})),
    fault("both names", "alias_conflict", "body", toRank({ ...SMALL_RANK, context: MARK })),
    fault("both names of an outcome", "alias_conflict", criteria, noulOf({ no: MARK, false: MARK })),
    fault("a blank level", "blank", `${criteria} 1`, asked(scoreOf([MARK, " "]))),
    fault("equal candidates", "not_distinct", "body candidates 1", ranking([MARK, MARK])),
    fault("another model", "unsupported_model", "body model", { ...SMALL, model: MARK }),
    fault("a level too many", "too_many", criteria, asked(scoreOf(tooMany))),
    fault("a candidate too many", "too_many", "body candidates", ranking([MARK, ...tooMany])),
    fault("a question too many", "too_many", "body questions", about(numbered(maxQuestions + 1, NOUL))),
    fault("a pair too many", "too_many_pairs", "body", about(tooManyPairs)),
  ];
}

/** Requests with thousands of faults, or with long names. */
function excessive({ maxQuestions, maxCandidates }: Limits): Readonly<Record<string, unknown>> {
  const bad = { type: "choice", instructions: "i", criteria: { a: "x" }, other: 1 };
  const names = ["n".repeat(101), "n".repeat(100_000), `${"n".repeat(99)}😀😀`, "😀".repeat(200)];
  return {
    "bad questions": { state: 1, questions: numbered(maxQuestions, bad), more: 1 },
    "5,000 unknown members": Object.fromEntries(texts(5000).map((text) => [text, 1])),
    "5,000 bad questions": { state: 1, questions: numbered(5000, 5) },
    "blank levels": asked(scoreOf(texts(maxCandidates).map(() => ""))),
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`a member's name of ${name.length}`, { ...SMALL, [name]: 1 }],
        [`a question's name of ${name.length}`, { state: 1, questions: { [name]: 5 } }],
      ]),
    ),
  };
}
