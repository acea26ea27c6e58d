/** What traces need from the environment, beside what OpenTelemetry's libraries read themselves. */
export interface TraceSettings {
  /** Of the traces that begin here, from 0 to 1. */
  readonly sampledShare: number;
  /** Whether a caller's trace is sampled as the caller says. */
  readonly isParentBased: boolean;
  readonly endpoint: string;
  /** Variables that are not followed, and why, each as a sentence. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether, and how, traces are wanted, by the variables of OpenTelemetry. An empty variable counts as not set.
 *
 * @returns undefined where they are not
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTraceSettings(env: Environment): TraceSettings | undefined {
  const textOf = (name: string) => env[name]?.trim() || undefined;
  const exporter = textOf("OTEL_TRACES_EXPORTER");
  const endpoint =
    textOf("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ??
    textOf("OTEL_EXPORTER_OTLP_ENDPOINT") ??
    (exporter === "otlp" ? DEFAULT_ENDPOINT : undefined);
  const isDisabled = textOf("OTEL_SDK_DISABLED")?.toLowerCase() === "true";
  if (endpoint === undefined || isDisabled || exporter === "none") return undefined;
  const sampling = samplingOf(textOf("OTEL_TRACES_SAMPLER"), env.OTEL_TRACES_SAMPLER_ARG);
  return { endpoint, ...sampling, warnings: [...sampling.warnings, ...notFollowed(env)] };
}

/** @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/ */
const DEFAULT_ENDPOINT = "http://localhost:4318";

/** Values that the service follows, of variables that could have others. */
const FOLLOWED: readonly (readonly [RegExp, RegExp, string])[] = [
  [/^OTEL_EXPORTER_OTLP_(TRACES_)?PROTOCOL$/, /^http\/protobuf$/, "spans are sent as http/protobuf"],
  [/^OTEL_TRACES_EXPORTER$/, /^otlp$/, "spans are sent by OTLP"],
  [/^OTEL_PROPAGATORS$/, /^(tracecontext|baggage)(,(tracecontext|baggage))*$/, "only traceparent is read"],
  [/^OTEL_SDK_DISABLED$/, /^(true|false)$/i, "it takes true or false"],
  [/^OTEL_BSP_/, /^\d+$/, "it takes a whole number"],
  [
    /^OTEL_(SPAN_|ATTRIBUTE_|EVENT_|LINK_|LOG_LEVEL$|CONFIG_FILE$|EXPERIMENTAL_|EXPORTER_(ZIPKIN|JAEGER)_)/,
    /^$/,
    "it has no effect",
  ],
];

function notFollowed(env: Environment): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const rule = FOLLOWED.find(([names]) => names.test(name));
    if (rule === undefined || value.trim() === "" || rule[1].test(value.trim())) return [];
    return [`${name} is not followed: ${rule[2]}.`];
  });
}

const PARENT_BASED = "parentbased_";
type Sampling = Pick<TraceSettings, "sampledShare" | "isParentBased" | "warnings">;

/** With an unknown sampler, all is sampled that the caller does not exclude. */
function samplingOf(sampler = "parentbased_always_on", argument: string | undefined): Sampling {
  const isParentBased = sampler.startsWith(PARENT_BASED);
  const name = isParentBased ? sampler.slice(PARENT_BASED.length) : sampler;
  switch (name) {
    case "always_on":
      return { sampledShare: 1, isParentBased, warnings: [] };
    case "always_off":
      return { sampledShare: 0, isParentBased, warnings: [] };
    case "traceidratio":
      return { isParentBased, ...shareOf(argument) };
    default: {
      const warning =
        "OTEL_TRACES_SAMPLER is not followed: this sampler is unknown, so all traces are sampled.";
      return { sampledShare: 1, isParentBased: true, warnings: [warning] };
    }
  }
}

function shareOf(argument = "1"): Pick<TraceSettings, "sampledShare" | "warnings"> {
  const share = argument.trim() === "" ? Number.NaN : Number(argument);
  if (share >= 0 && share <= 1) return { sampledShare: share, warnings: [] };
  const warning =
    "OTEL_TRACES_SAMPLER_ARG is not followed: it takes a number from 0 to 1, so all traces are sampled.";
  return { sampledShare: 1, warnings: [warning] };
}
