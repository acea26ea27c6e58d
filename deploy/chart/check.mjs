// Checks the chart: `npm run check:chart`. Needs `helm` in PATH, or its path in HELM.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { parseAllDocuments } from "yaml";

const helm = process.env.HELM ?? "helm";
const NEEDED = ["image.repository=registry.example/decision"];
const WITH_KEY = [...NEEDED, "keys.fileSecret=decision-keys"];
const ALL = [
  ...WITH_KEY,
  ...["keys.secret=decision-key", "autoscaling.enabled=true", "autoscaling.queueWait.enabled=true"],
  ...[
    "serviceMonitor.enabled=true",
    "networkPolicy.scrapers[0].namespaceSelector.matchLabels.name=monitoring",
  ],
  ...[
    "podLabels.team=a",
    "podAnnotations.note=b",
    "extraEnv[0].name=A",
    "extraEnv[0].value=b",
    "deadlineMs=1500",
  ],
  ...["extraVolumes[0].name=models", "extraVolumes[0].emptyDir.sizeLimit=1Gi"],
  ...["extraVolumeMounts[0].name=models", "extraVolumeMounts[0].mountPath=/var/lib/typed-decisions"],
];
const BASE = ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "Service"];

function run(...args) {
  const { error, status, stdout, stderr } = spawnSync(helm, args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  if (error !== undefined)
    throw new Error(`${helm} cannot be run (${error.message}): install it, or set HELM.`);
  return { status, stdout, stderr };
}

const settings = (values) => values.flatMap((value) => ["--set", value]);

/** The objects that the values make. */
function objects(values) {
  const { status, stdout, stderr } = run("template", "test", ".", ...settings(values));
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout)
    .filter((document) => document.contents !== null)
    .map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS();
    });
}

for (const values of [WITH_KEY, ALL]) {
  const { status, stdout, stderr } = run("lint", "--strict", ".", ...settings(values));
  assert.equal(status, 0, stdout + stderr);
}
for (const values of [[], NEEDED])
  assert.notEqual(run("template", "test", ".", ...settings(values)).status, 0);

assert.deepEqual(
  objects(WITH_KEY)
    .map(({ kind }) => kind)
    .sort(),
  BASE,
);
const all = objects(ALL);
assert.deepEqual(
  all.map(({ kind }) => kind).sort(),
  [...BASE, "HorizontalPodAutoscaler", "Service", "ServiceMonitor"].sort(),
);
const of = (kind) => all.find((object) => object.kind === kind);
const { replicas, selector, template } = of("Deployment").spec;
const [container] = template.spec.containers;
assert.equal(replicas, undefined, "the autoscaler decides");
assert.equal(template.spec.terminationGracePeriodSeconds, 5 + 2 + 15);
assert.equal(container.securityContext.readOnlyRootFilesystem, true);
assert.equal(container.env.find(({ name }) => name === "DECISION_DEADLINE_MS").value, "1500");
const ports = container.ports.map(({ name }) => name);
for (const { spec } of all.filter(({ kind }) => kind === "Service")) {
  for (const { targetPort } of spec.ports) assert.ok(ports.includes(targetPort), targetPort);
  for (const [name, value] of Object.entries(spec.selector))
    assert.equal(template.metadata.labels[name], value);
}
for (const [name, value] of Object.entries(selector.matchLabels))
  assert.equal(template.metadata.labels[name], value);
assert.equal(of("HorizontalPodAutoscaler").spec.metrics.length, 2);
assert.deepEqual(of("NetworkPolicy").spec.egress, []);
console.log(`helm lint and template: ${all.length} objects`);
