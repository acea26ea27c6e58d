/** A rule that no check tests. */
export interface UnobservedRule {
  readonly rule: string;
  readonly source: string;
  readonly why: string;
}

/** Rules that a client cannot observe, or cannot provoke without harm. */
export const UNOBSERVED: readonly UnobservedRule[] = [
  {
    rule: "Requests pass through one bounded queue, and a scheduler groups them into batches of up to 32 requests.",
    source: "interface: Scores and probabilities, ServiceLimits",
    why: "Batching changes no answer. `overload.refused` tests that the queue is bounded, `scores.concurrency` that requests are served concurrently.",
  },
  {
    rule: "One model is resident; no other is ever downloaded; no executable model code is enabled; inference is local.",
    source: "interface: Scores and probabilities, Versions",
    why: "A client cannot see files, outgoing connections or code. `model.unknown` tests that other model names are refused.",
  },
  {
    rule: "Contents of requests are not logged.",
    source: "interface: Scores and probabilities",
    why: "A client cannot read the log. `health.no-request-text` tests that /health contains no request text.",
  },
  {
    rule: "Command-line options, their environment variables, defaults and errors; the loopback default; a key is required for any other bind address.",
    source: "interface: Scores and probabilities, Keys",
    why: "They apply before the first request. /health reports the limits in force (`health.limits`).",
  },
  {
    rule: "Cache keys are SHA-256 digests; no persistent prompt cache is written.",
    source: "interface: Scores and probabilities",
    why: "A client cannot see memory or disk. `usage.cached-pairs` tests what the cache answers.",
  },
  {
    rule: "`--strict` scores each candidate in a batch of its own.",
    source: "interface: Scores and probabilities",
    why: "Scores do not depend on it: `scores.*` tests that in both modes.",
  },
  {
    rule: "A failure of the backend is 500; a 5xx body has only a general message and the request id.",
    source: "interface: Errors; contract: Errors",
    why: "No request makes a correct server fail. If a 500 occurs, `server.never-500` reports it and `errors.detail` checks its body.",
  },
  {
    rule: "A request past the server's deadline is answered with 504 and not retried.",
    source: "interface: Errors, ServiceLimits",
    why: "Only a minute of inference would exceed the default deadline. If a 504 occurs, `errors.detail` checks its body.",
  },
  {
    rule: "While the server starts, drains or has failed, it answers 503 with `Retry-After: 1`; /ready reports its state.",
    source: "interface: Health.status; contract: Health.status, Health, Unavailable",
    why: "A client cannot start or stop the server. This tool waits until it is ready.",
  },
  {
    rule: "`timed_out_requests` and `failed_requests` count timeouts and failures.",
    source: "contract: Health",
    why: "Only minutes of inference, or a failing model, change them. `health.keeps-*` tests that nothing else does.",
  },
  {
    rule: "A full queue refuses a request before its body is read. A request gets its place in the queue before token limits are checked, and gives it back if they refuse it.",
    source: "contract: Order of checks",
    why: "Only one request more than a full queue holds, at the right moment, would show it.",
  },
  {
    rule: "Hostile input is cheap to refuse: tokenization stops once a prefix exceeds the limit.",
    source: "contract: ValidationIssue",
    why: "No check measures time. `limits.nesting-hostile`, `limits.tokens.never-cut` and `errors.bounded` send hostile bodies.",
  },
  {
    rule: "The number of special tokens of a pair, and that token limits and `input_tokens` count them.",
    source: "contract: Usage, ServiceLimits",
    why: "It depends on the model's tokenizer. `usage.*` tests that counts add up and grow with each word, `limits.tokens.exact` that a limit refuses the first count above it.",
  },
  {
    rule: "Letter case, accents and Unicode forms of a text reach the model as they were sent.",
    source: "interface: Scores and probabilities",
    why: "A tokenizer may normalize them, as the embedded model's does. `request.*`, `order.exact-names` and `scores.own-question` test that names and texts that differ only so are distinct.",
  },
  {
    rule: "The model package: its manifest, digests, files, architecture, and whether labels are shown.",
    source: "contract: Texts",
    why: "Packages are not served. `texts.labels` accepts both ways to show labels, and no other.",
  },
  {
    rule: "Any alias that the operator added is accepted.",
    source: "contract: ModelList",
    why: "Only those listed by /v1/models are known; `model.listed-aliases` tests them.",
  },
];
