import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, isList, isMap, type Json, show } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import type { Limits } from "../../trial/limits.ts";
import { NOUL, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { asked, issuesIn } from "../cases.ts";
import { choiceOf, labelled, numbered, scoreOf, sizesOf, texts } from "../scored.ts";

const TYPES = [
  "media_type",
  "invalid_json",
  "duplicate_member",
  "nesting_too_deep",
  "wrong_type",
  "missing",
  "unknown_field",
  "unknown_value",
  "too_few",
  "too_many",
  "alias_conflict",
  "blank",
  "not_distinct",
  "unsupported_model",
  "too_many_pairs",
  "too_many_tokens",
];
const MOST_ISSUES = 20;
const LONGEST_NAME = 100;

/** Checks of error bodies. */
export const ERROR_CHECKS: readonly Check[] = [
  defineCheck({
    id: "errors.detail",
    clause: "An error body has `detail`: a string, or for schema errors a list.",
    source: "interface: Errors",
    expected: "a JSON object with such a `detail` in each 401, 413, 422, 500, 503 and 504 of the run",
    turn: "last",
    needsInference: false,
    run: async (trial: Trial) => {
      await provoke(trial);
      for (const reply of errorsSeen(trial, [401, 413, 422, 500, 503, 504])) {
        if (reply.request.method !== "POST") continue; // a 503 of /health and /ready has the body of a report, not of an error
        const detail = at(reply.json, "detail");
        trial.expect(typeof detail === "string" || isList(detail), excerpt(reply), reply);
      }
    },
  }),
  defineCheck({
    id: "errors.issues",
    clause:
      "The `detail` of a 422 is a list of 1 to 20 issues `{loc, msg, type}`; that of any other error is a string.",
    source: "contract: Errors",
    expected:
      "exactly these members, `loc` from `body` down, `type` of the closed set; for each error of the run",
    turn: "last",
    run: async (trial: Trial) => {
      await provoke(trial);
      for (const reply of errorsSeen(trial)) {
        const detail = at(reply.json, "detail");
        const isHealth = reply.status === 503 && isMap(reply.json) && !reply.json.has("detail");
        if (isHealth) continue; // not ready: the same body as when ready
        trial.expect(
          isMap(reply.json) && reply.json.size === 1,
          `more than \`detail\`: ${excerpt(reply)}`,
          reply,
        );
        if (reply.status === 422) checkIssues(trial, reply, detail);
        else trial.expect(typeof detail === "string" && detail !== "", excerpt(reply), reply);
      }
    },
  }),
  defineCheck({
    id: "errors.code",
    clause: "The header `x-decision-error` gives the code of each error.",
    source: "contract: Errors",
    expected: "a code of the contract that fits the status, with each status of 400 and above of the run",
    turn: "last",
    needsInference: false,
    run: async (trial: Trial) => {
      await provoke(trial);
      for (const reply of trial.seen) {
        if (reply.status < 400) continue;
        const code = reply.headers["x-decision-error"];
        const { method, url } = reply.request;
        trial.expect(
          codesOf(reply).includes(code ?? ""),
          `x-decision-error is ${show(code ?? null)} with ${reply.status}, ${method} ${new URL(url).pathname}`,
          reply,
        );
      }
    },
  }),
  ...(["type", "loc"] as const).map((member) =>
    defineCheck({
      id: `errors.${member}`,
      clause:
        member === "type"
          ? "`type` is the contract's word for what is wrong."
          : "`loc` is the path from `body` to the fault, with the names used in the request.",
      source: "contract: Errors",
      expected: member === "type" ? "for each fault its type" : "the path to each fault",
      run: async (trial: Trial) => {
        let refused = 0;
        await trial.each(faultyRequests(trial.facts.limits), async (fault) => {
          const { path = SYSTEMONE, body, headers = {} } = fault;
          const reply = await trial.post(path, body, { headers });
          if (reply.status !== 422) return; // other checks report this
          refused += 1;
          const issues = issuesIn(trial, reply);
          const fits = issues.some((issue) =>
            member === "type" ? at(issue, "type") === fault.type : beginsWith(at(issue, "loc"), fault.loc),
          );
          const wanted = member === "type" ? fault.type : JSON.stringify(fault.loc);
          trial.expect(fits, `no issue with ${wanted}: ${excerpt(reply)}`, reply);
        });
        if (refused === 0) trial.skip("none of the faults was answered 422");
      },
    }),
  ),
  defineCheck({
    id: "errors.no-echo",
    clause: "An error never repeats values of the request.",
    source: "contract: Errors",
    expected: "a marker word from values of requests is in no error body or header of the run",
    turn: "last",
    needsInference: false,
    run: async (trial: Trial) => {
      await provoke(trial);
      await trial.each(
        faultyRequests(trial.facts.limits),
        async ({ path = SYSTEMONE, body, headers = {} }) => {
          await trial.post(path, body, { headers });
        },
      );
      await trial.call("GET", `/nowhere/${MARK}?x=${MARK}`);
      await trial.call("PUT", `${RANK}?x=${MARK}`, { body: { state: MARK } });
      for (const reply of errorsSeen(trial)) {
        const isRepeated = reply.text.includes(MARK) || JSON.stringify(reply.headers).includes(MARK);
        trial.expect(!isRepeated, excerpt(reply), reply);
      }
    },
  }),
  defineCheck({
    id: "errors.bounded",
    clause:
      "A 422 has at most 20 issues; names in it have at most 100 characters and are not cut within a character.",
    source: "contract: Errors",
    expected: "a short answer to a request with thousands of faults or with a name of 100,000 characters",
    run: async (trial: Trial) => {
      const { maxQuestions, maxCandidates } = trial.facts.limits;
      const bad = { type: "choice", instructions: "i", criteria: { a: "x" }, other: 1 };
      const cases = [
        { name: "bad questions", body: { state: 1, questions: numbered(maxQuestions, bad), more: 1 } },
        { name: "5,000 unknown members", body: Object.fromEntries(texts(5000).map((text) => [text, 1])) },
        { name: "5,000 bad questions", body: { state: 1, questions: numbered(5000, 5) } },
        { name: "blank levels", body: asked(scoreOf(texts(maxCandidates).map(() => ""))) },
        ...["n".repeat(101), "n".repeat(100_000), `${"n".repeat(99)}😀😀`, "😀".repeat(200)].flatMap(
          (name) => [
            { name: `a member's name of ${name.length}`, body: { ...SMALL, [name]: 1 } },
            { name: `a question's name of ${name.length}`, body: { state: 1, questions: { [name]: 5 } } },
          ],
        ),
      ];
      await trial.each(cases, async ({ body }) => {
        const reply = await trial.post(SYSTEMONE, body);
        if (reply.status !== 422) return; // other checks report this
        const issues = issuesIn(trial, reply);
        trial.expect(issues.length <= MOST_ISSUES, `${issues.length} issues`, reply);
        for (const issue of issues) {
          const loc = at(issue, "loc");
          for (const step of isList(loc) ? loc : []) {
            const isWhole = [...String(step)].length <= LONGEST_NAME && !/\p{Surrogate}/u.test(String(step));
            trial.expect(isWhole, `loc names ${show(step)}`, reply);
          }
          trial.expect(String(at(issue, "msg")).length < 1000, "a `msg` of 1,000 characters and more", reply);
        }
      });
    },
  }),
  defineCheck({
    id: "errors.names-types",
    clause: "The 422 for an unknown question type names the three valid types.",
    source: "contract: Question",
    expected: "`choice`, `noul` and `score` in `msg`",
    run: async (trial: Trial) => {
      const reply = await trial.post(SYSTEMONE, asked({ type: "other", instructions: "i" }));
      if (reply.status !== 422) trial.skip(`${reply.status}, not 422: see request.question-type`);
      issuesIn(trial, reply);
      const isNamed = ["choice", "noul", "score"].every((type) => reply.text.includes(type));
      trial.expect(isNamed, excerpt(reply), reply);
    },
  }),
  defineCheck({
    id: "errors.json",
    clause: "Every answer except pages is UTF-8 JSON and declared as such.",
    source: "contract: Errors",
    expected: "`content-type: application/json` and a JSON body in each answer of the run",
    turn: "last",
    needsInference: false,
    run: async (trial: Trial) => {
      await provoke(trial);
      const isPage = (url: string) => /\/(docs|redoc)\b/.test(new URL(url).pathname);
      for (const reply of trial.seen) {
        if (reply.request.method === "HEAD" || (isPage(reply.request.url) && reply.status < 400)) continue;
        const isJson =
          /^application\/json *(;.*charset="?utf-?8"?.*|;(?!.*charset).*)?$/i.test(
            reply.headers["content-type"] ?? "",
          ) && reply.json !== undefined;
        trial.expect(isJson, excerpt(reply), reply);
      }
    },
  }),
];

/** Provokes a few errors, so that the checks of all errors of the run have some. */
async function provoke(trial: Trial): Promise<void> {
  await trial.post(RANK, { state: MARK });
  await trial.post(RANK, `{"state":"${MARK}`);
  await trial.get("/nowhere");
  await trial.get(RANK);
}

/** Error codes by status. Which code of 503 is right depends on the server's state; other checks test that. */
const CODES: Readonly<Record<number, readonly string[]>> = {
  400: ["MALFORMED_HTTP"],
  401: ["KEY_MISSING", "UNAUTHORIZED"],
  404: ["NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
  408: ["HEADERS_TIMEOUT"],
  412: ["CONDITION_FAILED"],
  413: ["BODY_TOO_LARGE"],
  416: ["CONDITION_FAILED"],
  417: ["EXPECTATION_FAILED"],
  422: ["INVALID_REQUEST"],
  429: ["RATE_LIMITED"],
  431: ["HEADERS_TOO_LARGE"],
  500: ["BACKEND_FAILED", "INTERNAL"],
  503: [
    "QUEUE_FULL",
    "OVERLOADED",
    "STARTING",
    "DRAINING",
    "TOO_MANY_CONNECTIONS",
    "BACKEND_FAILED",
    "INTERNAL",
  ],
  504: ["DEADLINE_EXCEEDED"],
};

function codesOf({ status, request }: Reply): readonly string[] {
  if (status === 401 && request.headers.authorization === undefined) return ["KEY_MISSING"];
  if (status === 401 && /^Bearer \S/.test(request.headers.authorization ?? "")) return ["UNAUTHORIZED"];
  return CODES[status] ?? [];
}

function errorsSeen(trial: Trial, statuses?: readonly number[]): readonly Reply[] {
  return trial.seen.filter(
    ({ status, request }) =>
      request.method !== "HEAD" && status >= 400 && (statuses === undefined || statuses.includes(status)),
  );
}

function checkIssues(trial: Trial, reply: Reply, detail: Json | undefined): void {
  trial.expect(isList(detail), `detail is ${show(detail)}`, reply);
  trial.expect(detail.length >= 1 && detail.length <= MOST_ISSUES, `${detail.length} issues`, reply);
  for (const issue of detail) {
    const [loc, msg, type] = ["loc", "msg", "type"].map((name) => at(issue, name));
    const isIssue =
      isMap(issue) &&
      issue.size === 3 &&
      isList(loc) &&
      loc[0] === "body" &&
      loc.every((step) => typeof step === "string" || Number.isInteger(step)) &&
      typeof msg === "string" &&
      msg !== "" &&
      typeof type === "string" &&
      TYPES.includes(type);
    trial.expect(isIssue, `the issue ${show(issue)}`, reply);
  }
}

function beginsWith(loc: Json | undefined, wanted: readonly (string | number)[]): boolean {
  return isList(loc) && wanted.every((step, index) => loc[index] === step);
}

/** A request with one fault, and the issue that its 422 must have. */
export interface FaultyRequest {
  readonly name: string;
  readonly path?: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The `type` of that issue. */
  readonly type: string;
  /** The beginning of that issue's `loc`. */
  readonly loc: readonly (string | number)[];
}

const Q = ["body", "questions", "q"];
/** A text longer than the contract's token limits. */
const TOO_LONG = "go ".repeat(9000);

/** A faulty request for each `type`, and some whose `loc` must have the alias that the request used. */
function faultyRequests(limits: Limits): readonly FaultyRequest[] {
  return [...ALWAYS_FAULTY, ...tooMany(limits)];
}

/** Requests one past each of these bounds. */
function tooMany({ maxQuestions, maxCandidates, maxPairs }: Limits): readonly FaultyRequest[] {
  const candidates = texts(maxCandidates + 1);
  const questions = sizesOf(maxPairs + 1, maxCandidates).map((size) => choiceOf(labelled(texts(size))));
  return [
    { name: "a level too many", body: asked(scoreOf(candidates)), type: "too_many", loc: [...Q, "criteria"] },
    {
      name: "a candidate too many",
      path: RANK,
      body: { state: MARK, candidates },
      type: "too_many",
      loc: ["body", "candidates"],
    },
    {
      name: "a question too many",
      body: { state: MARK, questions: numbered(maxQuestions + 1, NOUL) },
      type: "too_many",
      loc: ["body", "questions"],
    },
    {
      name: "a pair too many",
      body: { state: MARK, questions: Object.fromEntries(questions.map((one, index) => [`n${index}`, one])) },
      type: "too_many_pairs",
      loc: ["body"],
    },
  ];
}

const ALWAYS_FAULTY: readonly FaultyRequest[] = [
  {
    name: "a media type",
    body: SMALL,
    headers: { "content-type": "text/plain" },
    type: "media_type",
    loc: ["body"],
  },
  { name: "broken JSON", body: `{"state":"${MARK}`, type: "invalid_json", loc: ["body"] },
  {
    name: "a duplicate",
    body: `{"state":"${MARK}","state":1,"questions":{}}`,
    type: "duplicate_member",
    loc: ["body"],
  },
  { name: "deep nesting", body: "[".repeat(200), type: "nesting_too_deep", loc: ["body"] },
  { name: "a missing member", body: { state: MARK }, type: "missing", loc: ["body"] },
  { name: "missing instructions", body: asked({ type: "noul" }), type: "missing", loc: Q },
  { name: "an unknown member", body: { ...SMALL, extra: MARK }, type: "unknown_field", loc: ["body"] },
  {
    name: "an unknown member of a question",
    body: asked({ ...NOUL, extra: MARK }),
    type: "unknown_field",
    loc: Q,
  },
  { name: "an unknown type", body: asked({ type: MARK, instructions: "i" }), type: "unknown_value", loc: Q },
  {
    name: "questions of a wrong type",
    body: { state: "s", questions: MARK },
    type: "wrong_type",
    loc: ["body", "questions"],
  },
  {
    name: "a candidate of a wrong type",
    path: RANK,
    body: { state: MARK, candidates: ["a", 5] },
    type: "wrong_type",
    loc: ["body", "candidates", 1],
  },
  {
    name: "a long state under its alias",
    path: RANK,
    body: { context: TOO_LONG, candidates: ["a", "b"] },
    type: "too_many_tokens",
    loc: ["body", "context"],
  },
  {
    name: "a long outcome under its alias",
    body: asked({ ...NOUL, criteria: { yes: TOO_LONG } }),
    type: "too_many_tokens",
    loc: [...Q, "criteria", "yes"],
  },
  {
    name: "equal candidates under their alias",
    path: RANK,
    body: { state: "s", answers: [MARK, MARK] },
    type: "not_distinct",
    loc: ["body", "answers", 1],
  },
  { name: "one label", body: asked(choiceOf({ a: MARK })), type: "too_few", loc: [...Q, "criteria"] },
  { name: "no question", body: { state: MARK, questions: {} }, type: "too_few", loc: ["body", "questions"] },
  {
    name: "both names",
    path: RANK,
    body: { ...SMALL_RANK, context: MARK },
    type: "alias_conflict",
    loc: ["body"],
  },
  {
    name: "both names of an outcome",
    body: asked({ ...NOUL, criteria: { no: MARK, false: MARK } }),
    type: "alias_conflict",
    loc: [...Q, "criteria"],
  },
  { name: "a blank level", body: asked(scoreOf([MARK, " "])), type: "blank", loc: [...Q, "criteria", 1] },
  {
    name: "equal candidates",
    path: RANK,
    body: { state: "s", candidates: [MARK, MARK] },
    type: "not_distinct",
    loc: ["body", "candidates", 1],
  },
  {
    name: "another model",
    body: { ...SMALL, model: MARK },
    type: "unsupported_model",
    loc: ["body", "model"],
  },
];
