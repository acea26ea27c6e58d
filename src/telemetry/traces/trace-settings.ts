/** What traces need from the environment, beside what the exporter reads itself. */
export interface TraceSettings {
  readonly serviceName: string;
  /** Of the traces that begin here, from 0 to 1. */
  readonly sampledShare: number;
  /** Whether a caller's trace is sampled as the caller says. */
  readonly isParentBased: boolean;
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
    ...samplingOf(env.OTEL_TRACES_SAMPLER, env.OTEL_TRACES_SAMPLER_ARG),
  };
}

const PARENT_BASED = "parentbased_";

/** An unknown sampler is ignored: then all is sampled that the caller does not exclude. */
function samplingOf(
  sampler = "",
  argument: string | undefined,
): Pick<TraceSettings, "sampledShare" | "isParentBased"> {
  const isParentBased = sampler.startsWith(PARENT_BASED);
  const name = isParentBased ? sampler.slice(PARENT_BASED.length) : sampler;
  switch (name) {
    case "always_on":
      return { sampledShare: 1, isParentBased };
    case "always_off":
      return { sampledShare: 0, isParentBased };
    case "traceidratio":
      return { sampledShare: shareOf(argument), isParentBased };
    default:
      return { sampledShare: 1, isParentBased: true };
  }
}

function shareOf(argument = "1"): number {
  const share = Number(argument);
  return share >= 0 && share <= 1 ? share : 1;
}
