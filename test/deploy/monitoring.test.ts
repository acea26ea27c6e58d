import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { parser } from "@prometheus-io/lezer-promql";
import type { FastifyInstance } from "fastify";
import { parse } from "yaml";
import { createFastEngine } from "../../packages/conformance/test/fast-engine.ts";
import { createApp, createMetrics } from "../../src/app.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { memoryLog } from "../server/doubles.ts";
import { packageRoot } from "../support/package-root.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly object[] }[];
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const file = (name: string) => readFileSync(path.join(packageRoot, name), "utf8");
const rules: readonly Rule[] = parse(file("deploy/prometheus/alerts.yaml")).groups[0].rules;
const { tests }: { tests: readonly RuleTest[] } = parse(file("deploy/prometheus/alerts.test.yaml"));
const dashboard: { panels: readonly Panel[] } = JSON.parse(file("deploy/grafana/decision.json"));

const queries = [
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr }))),
];

/** The names that a query reads, and whether it is PromQL at all. Grafana's variables stand for a duration. */
function readQuery(expr: string): { readonly names: readonly string[]; readonly isValid: boolean } {
  const text = expr.replaceAll("$__rate_interval", "5m");
  const names: string[] = [];
  let isValid = true;
  parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) isValid = false;
      if (node.name === "Identifier" && node.node.parent?.name === "VectorSelector")
        names.push(text.slice(node.from, node.to));
    },
  });
  return { names, isValid };
}

describe("alerts and dashboard", () => {
  let app: FastifyInstance;
  let known: ReadonlySet<string>;

  before(async () => {
    const engine = await createFastEngine();
    const serviceMetrics = await createMetrics(engine);
    app = await createApp(engine, { ...resolveOptions({}), log: memoryLog(), serviceMetrics });
    const { body } = await app.inject({ url: "/metrics" });
    const families = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name],
    );
    known = new Set([...families, "up"]); // Prometheus' own
  });
  after(() => app.close());

  for (const { name, expr } of queries) {
    it(`read only metrics that there are: ${name}`, () => {
      const { names, isValid } = readQuery(expr);
      assert.ok(isValid, expr);
      assert.ok(names.length > 0, expr);
      for (const each of names) assert.ok(known.has(each), `${each} in ${expr}`);
    });
  }

  it("show every metric of the service on the dashboard", () => {
    const shown = dashboard.panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => readQuery(expr).names),
    );
    const families = [...known].filter((name) => name.startsWith("decision_"));
    const base = (name: string) => name.replace(/_(bucket|sum|count)$/, "");
    const missing = families.filter((name) => !shown.some((each) => base(each) === base(name)));
    assert.deepEqual(missing, []);
  });

  it("have the metric of the autoscaler, whose name the chart and the adapter's rule share", () => {
    const [rule] = parse(file("deploy/prometheus/adapter.yaml")).rules.custom;
    assert.ok(known.has(rule.name.as));
    assert.deepEqual(readQuery(rule.seriesQuery), { names: [rule.name.as], isValid: true });
    const scaler = file("deploy/chart/templates/horizontalpodautoscaler.yaml");
    assert.match(scaler, new RegExp(`metric: { name: ${rule.name.as} }`));
  });

  it("have a place in the runbook, a test that fires each alert and one that does not", () => {
    const runbook = file("docs/runbook.md");
    const listed = [...runbook.matchAll(/^## (Decision\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(
      listed,
      rules.map(({ alert }) => alert),
    );
    for (const { alert, annotations } of rules) {
      assert.equal(annotations.runbook, `docs/runbook.md#${alert.toLowerCase()}`);
      const expected = tests
        .flatMap(({ alert_rule_test }) => alert_rule_test)
        .filter(({ alertname }) => alertname === alert)
        .map(({ exp_alerts }) => exp_alerts.length);
      assert.deepEqual(expected.sort(), [0, 1], alert);
    }
  });
});
