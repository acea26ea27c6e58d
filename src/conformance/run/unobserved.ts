/** A rule that no check holds a server to. */
export interface UnobservedRule {
  readonly rule: string;
  readonly source: string;
  readonly why: string;
}

/** What a client cannot see, or cannot provoke without harm. */
export const UNOBSERVED: readonly UnobservedRule[] = [
  {
    rule: "Requests pass through one bounded queue, and a scheduler groups them into batches of up to 32 requests.",
    source: "interface: Scores and probabilities, ServiceLimits",
    why: "How requests are grouped changes no answer. That the queue is bounded is `overload.refused`; that it is served while others wait, `scores.concurrency`.",
  },
  {
    rule: "One model is resident; no other is ever downloaded; no executable model code is enabled; inference is local.",
    source: "interface: Scores and probabilities, Versions",
    why: "A client sees no files, no outgoing connections and no code. That another model's name is refused is `model.unknown`.",
  },
  {
    rule: "Contents of requests are not logged.",
    source: "interface: Scores and probabilities",
    why: "A client cannot read the log. That nothing leaks into /health is `health.no-request-text`.",
  },
  {
    rule: "Command-line options, their variables, defaults and refusals; the loopback default; no open bind without a key.",
    source: "interface: Scores and probabilities, Keys",
    why: "They are decided before the first request. What is in force is told by /health (`health.limits`).",
  },
  {
    rule: "Cache keys are SHA-256 digests; no persistent prompt cache is written.",
    source: "interface: Scores and probabilities",
    why: "A client sees neither memory nor disk. What the cache answers is `usage.cached-pairs`.",
  },
  {
    rule: "`--strict` scores each candidate in a batch of its own.",
    source: "interface: Scores and probabilities",
    why: "Scores do not depend on it, which `scores.*` hold in either mode.",
  },
  {
    rule: "A failure of the backend is 500; a 5xx body says no more than what failed in general and the request id.",
    source: "interface: Errors; contract: Errors",
    why: "No request makes a right server fail. Should a 500 come, `server.never-500` tells of it and `errors.detail` looks at it.",
  },
  {
    rule: "A request past the server's deadline is 504, and is not repeated.",
    source: "interface: Errors, ServiceLimits",
    why: "Only work of a minute would pass the default deadline. Should a 504 come, `errors.detail` looks at it.",
  },
  {
    rule: "While it starts, drains or has failed, the server answers 503 with `Retry-After: 1`; /ready tells its state.",
    source: "interface: Health.status; contract: Health.status, Health, Unavailable",
    why: "A client cannot start or stop the server; this tool waits until it is ready.",
  },
  {
    rule: "`timed_out_requests` and `failed_requests` count what their names say.",
    source: "contract: Health",
    why: "Only work of minutes, or a model that fails, moves them. That nothing else does is `health.keeps-*`.",
  },
  {
    rule: "A full queue refuses before the body is read; a place in the queue comes before token limits, which give it back.",
    source: "contract: Order of checks",
    why: "It shows only with one request more than a full queue holds, at the right moment.",
  },
  {
    rule: "Hostile input stays cheap: a prefix that passes the limit proves the refusal.",
    source: "contract: ValidationIssue",
    why: "No check judges a time. Hostile bodies are in `limits.nesting-hostile`, `limits.tokens.never-cut` and `errors.bounded`.",
  },
  {
    rule: "How many special tokens a pair has, and that a token limit and `input_tokens` count them.",
    source: "contract: Usage, ServiceLimits",
    why: "Only the model's own tokenizer can tell: the same texts may be a token longer with another one. That counts add up and grow with each word is `usage.*`, that a limit refuses the first count above it `limits.tokens.exact`.",
  },
  {
    rule: "Capitals, accents and Unicode forms of a text reach the model as they were sent.",
    source: "interface: Scores and probabilities",
    why: "A tokenizer may drop them itself, as the embedded model's does. That names and texts that differ so are different ones is `request.*`, `order.exact-names` and `scores.own-question`.",
  },
  {
    rule: "The model package: its manifest, digests, files, architecture, and whether labels are shown.",
    source: "contract: Texts",
    why: "Packages are not served. `texts.labels` accepts either way to show labels, and no third.",
  },
  {
    rule: "Any alias that the operator added is accepted.",
    source: "contract: ModelList",
    why: "Only those that /v1/models lists can be known: `model.listed-aliases`.",
  },
];
