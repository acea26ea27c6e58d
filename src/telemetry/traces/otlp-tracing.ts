import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { InferenceFacts } from "../../contract/call.ts";
import type { RequestRecord } from "../../server/request-record.ts";
import type { RequestTrace, Tracing } from "../../server/tracing.ts";
import type { TraceSettings } from "./trace-settings.ts";

const propagator = new W3CTraceContextPropagator();

/**
 * Sends a span for each request to an OpenTelemetry collector, with a span for each step of an answer below it:
 *
 *     POST /v1/systemone ──┬── tokenize
 *                          ├── queue
 *                          └── forward
 *
 * The exporter reads its address and headers from the variables of OpenTelemetry. Attributes are times, counts and names of the
 * contract, never content.
 *
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function createTracing(
  { serviceName, sampledShare, isParentBased }: TraceSettings,
  version: string,
): Tracing {
  const own = resourceFromAttributes({ "service.name": serviceName, "service.version": version });
  const root = sampledShare === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(sampledShare);
  const provider = new TracerProvider({
    resource: defaultResource().merge(own),
    sampler: isParentBased ? new ParentBasedSampler({ root }) : root,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer("decision", version);
  return {
    begin({ headers, method = "" }) {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      // the path is the caller's: the name is completed once the operation is known
      return new SpanTrace(tracer, tracer.startSpan(method, { kind: SpanKind.SERVER }, parent));
    },
    close: () => provider.shutdown(),
  };
}

class SpanTrace implements RequestTrace {
  readonly traceId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #tracer: Tracer;
  readonly #span: Span;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    const flags = traceFlags.toString(16).padStart(2, "0");
    this.headers = { traceparent: `00-${traceId}-${spanId}-${flags}` };
  }

  end({ method, operation, status, requestId, inferences = [] }: RequestRecord): void {
    const span = this.#span;
    span.updateName(operation ?? method ?? "");
    span.setAttributes({
      "http.request.method": method ?? "",
      "http.response.status_code": status,
      "decision.operation": operation ?? "none",
      "decision.request_id": requestId,
    });
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    if (inferences.length > 0) span.setAttributes(countsOf(inferences));
    for (const facts of inferences) this.#addSteps(facts, trace.setSpan(ROOT_CONTEXT, span));
    span.end();
  }

  /** Each step begins where the one before ends. */
  #addSteps({ timing, startedAt }: InferenceFacts, parent: Context): void {
    // as time since 1970: times of the monotonic clock would be moved by each span's own rounding of that clock
    let at = performance.timeOrigin + startedAt;
    const steps = [
      ["tokenize", timing.tokenize],
      ["queue", timing.queue],
      ["forward", timing.inference],
    ] as const;
    for (const [name, ms] of steps) {
      const span = this.#tracer.startSpan(name, { startTime: at }, parent);
      at += ms;
      span.end(at);
    }
  }
}

/** Attributes of a request; sums, where it asked the model more than once. */
function countsOf(inferences: readonly InferenceFacts[]) {
  const sum = (read: (facts: InferenceFacts) => number) =>
    inferences.reduce((total, facts) => total + read(facts), 0);
  return {
    "decision.questions": sum(({ questions }) => questions),
    "decision.pairs": sum(({ pairs }) => pairs),
    "decision.cached_pairs": sum(({ cachedPairs }) => cachedPairs),
    "decision.input_tokens": sum(({ inputTokens }) => inputTokens),
  };
}
