// Checks the chart, and its objects by the schemas of Kubernetes: `npm run check:chart`. Needs `helm` and `kubeconform`
// in PATH, or their paths in HELM and KUBECONFORM.
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

/**
 * For the oldest Kubernetes that the chart takes, as the schemas are.
 *
 * @param file the content of a file of values: helm reads its numbers as floats, those of `--set` as integers
 */
const render = (values, file = {}, release = "test") =>
  run(
    helm,
    ["template", release, ".", "--kube-version", "1.27.0", "--values", "-", ...settings(values)],
    JSON.stringify(file),
  );

/** The objects that the values make. Each has a schema and fits it. */
function objects(values, file, release) {
  const { status, stdout, stderr } = render(values, file, release);
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
for (const [values, message, file] of [
  [NEEDED, /keys\.fileSecret/],
  [["keys.fileSecret=decision-keys"], /image\.repository/],
  [[...WITH_KEY, "replica=3"], /replica/],
  [[...WITH_KEY, "metricsPort=8700"], /metricsPort/],
  [[...WITH_KEY, "options.DECISION_PORT=9000"], /DECISION_PORT/],
  [[...WITH_KEY, "options.DECISION_API_KEY=secret"], /DECISION_API_KEY/],
  [[...WITH_KEY, "options.DECISION_ALIAS.a=b"], /DECISION_ALIAS/],
  [[...WITH_KEY, "image.digest=abc"], /digest/],
  [WITH_KEY, /DECISION_ALIAS/, { options: { DECISION_ALIAS: ["a,b"] } }],
  [WITH_KEY, /DECISION_ALIAS/, { options: { DECISION_ALIAS: [["a"]] } }],
  [WITH_KEY, /extraEnv/, { extraEnv: [{ name: "A", value: 1_000_000 }] }],
]) {
  const { status, stderr } = render(values, file);
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

/** The pod and the container that the values make. */
function podOf(values, file, release) {
  const { template } = objects(values, file, release).find(({ kind }) => kind === "Deployment").spec;
  const [container] = template.spec.containers;
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  assert.equal(container.env.length, Object.keys(env).length, "a variable is set twice");
  const probes = [container.readinessProbe, container.livenessProbe].map(({ httpGet }) => httpGet.scheme);
  return { labels: template.metadata.labels, pod: template.spec, container, env, probes };
}

// values of every type are the text that a person means
const OPTIONS = {
  DECISION_CACHE_SIZE: 1_000_000,
  DECISION_STATE_CACHE_MB: 0,
  DECISION_DECIMALS: 0.25,
  DECISION_STRICT: true,
  DECISION_NO: false,
  DECISION_ALIAS: ["a", "b c", 10_000_000, true],
  DECISION_NONE: [],
  DECISION_TEXT: 'a "quoted" \\ text: {{ x }}\nand a line',
  DECISION_DIGITS: "0123",
};
const TEXTS = {
  DECISION_CACHE_SIZE: "1000000",
  DECISION_STATE_CACHE_MB: "0",
  DECISION_DECIMALS: "0.25",
  DECISION_STRICT: "true",
  DECISION_NO: "false",
  DECISION_ALIAS: "a,b c,10000000,true",
  DECISION_NONE: "",
};
const { env: texts } = podOf(WITH_KEY, { options: OPTIONS });
for (const [name, value] of Object.entries({ ...OPTIONS, ...TEXTS })) assert.equal(texts[name], value, name);
assert.equal(texts.DECISION_HOST, "0.0.0.0");
const numbers = ["options.DECISION_CACHE_SIZE=1000000", "options.DECISION_HOST=::", "deadlineMs=1000000"];
const { env: set } = podOf([...WITH_KEY, ...numbers]);
assert.deepEqual(
  [set.DECISION_CACHE_SIZE, set.DECISION_HOST, set.DECISION_DEADLINE_MS],
  ["1000000", "::", "1000000"],
);
for (const release of ["123", "true", "1e3", "null"])
  assert.equal(podOf(WITH_KEY, {}, release).labels["app.kubernetes.io/instance"], release);
podOf([...NEEDED, "keys.allowUnauthenticated=true"], { keys: { secret: "123" }, priorityClassName: "123" });

// what a cluster assigns can be left to it
const ids = ["runAsUser", "runAsGroup", "fsGroup"];
const { pod: fixed } = podOf(WITH_KEY);
for (const id of ids) assert.equal(fixed.securityContext[id], 10_001);
const { pod: assigned } = podOf([...WITH_KEY, ...ids.map((id) => `podSecurityContext.${id}=null`)]);
assert.deepEqual(assigned.securityContext, {
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
});
const own = podOf(WITH_KEY, {
  podSecurityContext: { runAsUser: 1_000_730_000, seccompProfile: null },
  securityContext: { readOnlyRootFilesystem: false, capabilities: null },
});
assert.equal(own.pod.securityContext.runAsUser, 1_000_730_000);
assert.equal(own.pod.securityContext.seccompProfile, undefined);
assert.deepEqual(own.container.securityContext, {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: false,
});
const none = podOf([...WITH_KEY, "podSecurityContext=null", "securityContext=null"]);
assert.deepEqual([none.pod.securityContext, none.container.securityContext], [undefined, undefined]);

// probes reach a service with a certificate
assert.deepEqual(podOf(WITH_KEY).probes, ["HTTP", "HTTP"]);
const certificate = { options: { DECISION_TLS_CERT: "/tls/tls.crt", DECISION_TLS_KEY: "/tls/tls.key" } };
assert.deepEqual(podOf(WITH_KEY, certificate).probes, ["HTTPS", "HTTPS"]);
const variable = { extraEnv: [{ name: "DECISION_TLS_CERT", value: "/tls/tls.crt" }] };
assert.deepEqual(podOf(WITH_KEY, variable).probes, ["HTTPS", "HTTPS"]);

const digest = `sha256:${"a0".repeat(32)}`;
assert.equal(
  podOf([...WITH_KEY, `image.digest=${digest}`]).container.image,
  `registry.example/decision@${digest}`,
);
assert.equal(podOf([...WITH_KEY, "image.tag=1.10"]).container.image, "registry.example/decision:1.10");
console.log(`helm lint, helm template, kubeconform: ${all.length} objects`);
