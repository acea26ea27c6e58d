// Writes schemas/: of Kubernetes' OpenAPI document and the Prometheus operator's definition, what the chart's objects
// need. `node deploy/chart/schemas.mjs KUBERNETES/api/openapi-spec/swagger.json
// OPERATOR/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml`
//
// From the Go modules k8s.io/kubernetes v1.27.16, the oldest version that the chart takes, and
// github.com/prometheus-operator/prometheus-operator v0.85.0. Stricter than a cluster: no unknown member, no null.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { EITHER, strictSchema } from "../strict-schema.mjs";

const [swagger, monitor] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
if (monitor === undefined) {
  console.error("usage: node deploy/chart/schemas.mjs SWAGGER_JSON SERVICE_MONITOR_YAML");
  process.exit(2);
}
const KINDS = [
  "apps.v1.Deployment",
  "autoscaling.v2.HorizontalPodAutoscaler",
  "core.v1.Service",
  "networking.v1.NetworkPolicy",
  "policy.v1.PodDisruptionBudget",
];
const SPECIAL = {
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": EITHER,
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { anyOf: [{ type: "string" }, { type: "number" }] },
};
const { definitions } = JSON.parse(swagger);

for (const name of KINDS) {
  const root = `io.k8s.api.${name}`;
  const [{ group, version, kind }] = definitions[root]["x-kubernetes-group-version-kind"];
  const used = new Map();
  const collect = (each) => {
    if (used.has(each)) return;
    used.set(each, undefined);
    used.set(each, SPECIAL[each] ?? strictSchema(definitions[each], collect));
  };
  collect(root);
  const { [root]: own, ...others } = Object.fromEntries([...used].sort());
  write(kind, group, version, own, others);
}
const { spec } = parse(monitor);
const [{ name: version, schema }] = spec.versions;
write(spec.names.kind, spec.group, version, strictSchema(schema.openAPIV3Schema));

function write(kind, group, version, schema, definitions) {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const properties = {
    ...schema.properties,
    apiVersion: { const: apiVersion },
    kind: { const: kind },
  };
  const required = [...new Set(["apiVersion", "kind", "metadata", ...(schema.required ?? [])])];
  const suffix = [group.split(".")[0], version].filter(Boolean).join("-");
  const file = path.join(import.meta.dirname, "schemas", `${kind.toLowerCase()}-${suffix}.json`);
  writeFileSync(file, `${JSON.stringify({ ...schema, properties, required, definitions })}\n`);
}
