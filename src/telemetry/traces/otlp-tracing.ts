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
import {
  type ExportResult,
  ExportResultCode,
  getNumberFromEnv,
  W3CTraceContextPropagator,
} from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { InferenceFacts } from "../../contract/call.ts";
import type { RequestRecord, RequestTrace, Tracing } from "../../server/request-record.ts";
import type { TraceSettings } from "./trace-settings.ts";

const propagator = new W3CTraceContextPropagator();

/**
 * Sends a span for each request to an OpenTelemetry collector, with a span for each step of an answer below it:
 *
 *     POST /v1/systemone ──┬── tokenize
 *                          ├── queue
 *                          └── forward
 *
 * OpenTelemetry's libraries read the exporter's address and headers, and the attributes of the resource, from its
 * variables. Attributes of spans are times, counts and names of the contract, never content.
 *
 * @param warn told of a failed export, at most once a minute
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function createTracing(
  { sampledShare, isParentBased }: TraceSettings,
  version: string,
  warn: (message: string, error: unknown) => void,
  now: () => number = () => performance.now(),
): Tracing {
  const own = resourceFromAttributes({ "service.name": "decision", "service.version": version });
  const given = detectResources({ detectors: [envDetector] });
  const root = sampledShare === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(sampledShare);
  const provider = new TracerProvider({
    resource: defaultResource().merge(own).merge(given),
    sampler: isParentBased ? new ParentBasedSampler({ root }) : root,
    spanProcessors: [new BatchSpanProcessor({ exporter: new ToldExporter(warn, now), ...batching() })],
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

/** How spans are batched, from the variables of OpenTelemetry; what is not set has the library's default. */
function batching() {
  const variables = {
    scheduledDelayMillis: getNumberFromEnv("OTEL_BSP_SCHEDULE_DELAY"),
    exportTimeoutMillis: getNumberFromEnv("OTEL_BSP_EXPORT_TIMEOUT"),
    maxQueueSize: getNumberFromEnv("OTEL_BSP_MAX_QUEUE_SIZE"),
    maxExportBatchSize: getNumberFromEnv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

/** Chosen: a collector may be away for hours. */
const QUIET_MS = 60_000;

/** The exporter, which by itself fails in silence. */
class ToldExporter extends OTLPTraceExporter {
  readonly #warn: (message: string, error: unknown) => void;
  readonly #now: () => number;
  #quietUntil = Number.NEGATIVE_INFINITY;

  constructor(warn: (message: string, error: unknown) => void, now: () => number) {
    super();
    this.#warn = warn;
    this.#now = now;
  }

  override export(spans: ReadableSpan[], onResult: (result: ExportResult) => void): void {
    super.export(spans, (result) => {
      if (result.code === ExportResultCode.FAILED) this.#tell(result.error);
      onResult(result);
    });
  }

  #tell(error: unknown): void {
    const now = this.#now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + QUIET_MS;
    this.#warn("spans could not be sent to the collector, and are lost", error);
  }
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
