// Checks the chart, and its objects by the schemas of Kubernetes: `npm run check:chart`. Needs `helm` and `kubeconform` in PATH, or
// their paths in HELM and KUBECONFORM.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseAllDocuments } from "yaml";

const helm = process.env.HELM ?? "helm";
const kubeconform = process.env.KUBECONFORM ?? "kubeconform";
const SCHEMAS = path.join(import.meta.dirname, "schemas", "{{ .ResourceKind }}{{ .KindSuffix }}.json");
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

function run(command, args, input = "") {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: import.meta.dirname,
    encoding: "utf8",
    input,
  });
  if (error === undefined) return { status, stdout, stderr };
  console.error(
    `${command} cannot be run (${error.message}): install it, or set ${path.basename(command).toUpperCase()}.`,
  );
  process.exit(1);
}

const settings = (values) => values.flatMap((value) => ["--set", value]);

/** For the oldest Kubernetes that the chart takes, as the schemas are. */
const render = (values) =>
  run(helm, ["template", "test", ".", "--kube-version", "1.27.0", ...settings(values)]);

/** The objects that the values make. Each has a schema and fits it. */
function objects(values) {
  const { status, stdout, stderr } = render(values);
  assert.equal(status, 0, stderr);
  assert.equal(conforms(stdout), "");
  return parseAllDocuments(stdout)
    .filter((document) => document.contents !== null)
    .map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS();
    });
}

/** What is wrong with the objects; empty: nothing. */
function conforms(objects) {
  const { status, stdout, stderr } = run(kubeconform, ["-strict", "-schema-location", SCHEMAS, "-"], objects);
  return status === 0 ? "" : stdout + stderr;
}

for (const values of [WITH_KEY, ALL]) {
  const { status, stdout, stderr } = run(helm, ["lint", "--strict", ".", ...settings(values)]);
  assert.equal(status, 0, stdout + stderr);
}
for (const [values, message] of [
  [NEEDED, /keys\.fileSecret/],
  [["keys.fileSecret=decision-keys"], /image\.repository/],
  [[...WITH_KEY, "replica=3"], /replica/],
  [[...WITH_KEY, "metricsPort=8700"], /metricsPort/],
]) {
  const { status, stderr } = render(values);
  assert.notEqual(status, 0, String(values));
  assert.match(stderr, message);
}
const wrong = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {}\nspec: { maxUnavailble: 1 }\n";
assert.match(conforms(wrong), /maxUnavailble/, "a schema takes any member");

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
console.log(`helm lint, helm template, kubeconform: ${all.length} objects`);
