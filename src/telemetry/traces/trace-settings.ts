/** What traces need from the environment, beside what the exporter reads itself. */
export interface TraceSettings {
  readonly serviceName: string;
  /** Of the traces that begin here, from 0 to 1. A caller's trace is sampled as the caller says. */
  readonly sampledShare: number;
  readonly endpoint: string;
}

/**
 * Whether, and how, traces are wanted, by the variables of OpenTelemetry.
 *
 * @returns undefined where they are not
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTraceSettings(
  env: Readonly<Record<string, string | undefined>>,
): TraceSettings | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none")
    return undefined;
  return {
    endpoint,
    serviceName: env.OTEL_SERVICE_NAME || "decision",
    sampledShare: shareOf(env.OTEL_TRACES_SAMPLER, env.OTEL_TRACES_SAMPLER_ARG),
  };
}

/** `parentbased_traceidratio` with its share; every other sampler takes all. */
function shareOf(sampler: string | undefined, argument: string | undefined): number {
  if (sampler === undefined || !sampler.includes("traceidratio")) return 1;
  const share = Number(argument ?? "1");
  return share >= 0 && share <= 1 ? share : 1;
}
