// Writes inference-service.schema.json: of KServe's definition of an InferenceService, what the file of `decision model
// export` needs. `node deploy/kserve/schema.mjs KSERVE/config/crd/full/serving.kserve.io_inferenceservices.yaml`
//
// From the Go module github.com/kserve/kserve v0.19.0. Stricter than a cluster: no unknown member. Other predictors
// than `model` are left out: they are half a megabyte.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { strictSchema } from "../strict-schema.mjs";

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node deploy/kserve/schema.mjs INFERENCE_SERVICES_YAML");
  process.exit(2);
}
const { spec } = parse(readFileSync(file, "utf8"));
const [{ name: version, schema }] = spec.versions;
const { predictor } = schema.openAPIV3Schema.properties.spec.properties;
const object = (properties, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const whole = object({
  apiVersion: { const: `${spec.group}/${version}` },
  kind: { const: spec.names.kind },
  metadata: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  spec: object({ predictor: object({ model: strictSchema(predictor.properties.model) }) }),
});
const target = path.join(import.meta.dirname, "inference-service.schema.json");
writeFileSync(target, `${JSON.stringify(whole)}\n`);
