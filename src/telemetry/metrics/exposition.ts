import { type Counter, type Gauge, type Histogram, type MetricObjectWithValues, Registry } from "prom-client";

export type Metric = Counter | Gauge | Histogram;

export interface Exposition {
  /** The value of the response's `content-type`. */
  readonly contentType: string;
  readonly text: string;
}

/**
 * Writes metrics in one of two text formats.
 *
 * The library keeps one format for each registry, and in OpenMetrics cuts `_total` off the names of the counters that
 * it is given. So each format has a registry of its own, and that of OpenMetrics holds views whose names may be cut.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
 */
export class TextFormats {
  readonly #prometheus = new Registry();
  readonly #openMetrics = new Registry();

  constructor(metrics: readonly Metric[]) {
    this.#openMetrics.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never); // the library's type knows only the default
    for (const metric of metrics) {
      this.#prometheus.registerMetric(metric);
      this.#openMetrics.registerMetric(viewOf(metric));
    }
  }

  /** @param accept the request's header */
  async write(accept: string | undefined): Promise<Exposition> {
    const registry = prefersOpenMetrics(accept) ? this.#openMetrics : this.#prometheus;
    return { contentType: registry.contentType, text: await registry.metrics() };
  }
}

/** What a registry reads of a metric, under a name that it may change. */
function viewOf(metric: Metric): Metric {
  const { name, type } = metric as Metric & { readonly name: string; readonly type: string }; // not in the library's types
  const view = {
    name,
    type,
    get: async () => {
      const own = metric as Metric &
        Partial<Record<"getForPromString", () => Promise<MetricObjectWithValues<never>>>>;
      return { ...(await (own.getForPromString?.() ?? own.get())), name: view.name };
    },
  };
  return view as unknown as Metric; // a registry uses these members only
}

/** Whether an `Accept` header puts OpenMetrics before the text format of Prometheus, which is the default. */
export function prefersOpenMetrics(accept = ""): boolean {
  const weights = accept.split(",").map((entry) => {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { type, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const weightOf = (...types: readonly string[]) =>
    Math.max(0, ...weights.filter(({ type }) => types.includes(type)).map(({ weight }) => weight));
  const openMetrics = weightOf("application/openmetrics-text");
  return openMetrics > 0 && openMetrics >= weightOf("text/plain", "text/*", "*/*");
}
