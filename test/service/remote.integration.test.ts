import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { createDecider, createScorer } from "../../src/library/index.ts";
import { writeWholeGraph } from "../../src/models/architectures/whole-graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { type Misbehaviour, serveGraph } from "../support/inference-server.ts";
import { packageRoot } from "../support/package-root.ts";
import { Service, SMALL } from "./service.ts";

const folder = await mkdtemp(path.join(tmpdir(), "remote-service-"));
const inFolder = (name: string) => path.join(folder, name);
/** A small model: that the numbers are right is tested with test/backends/remote.integration.test.ts. */
const modelPath = inFolder("model");
await writeTinyPackage(modelPath);
await writeWholeGraph(await openModelPackage(modelPath), "u8u8", folder);
const servers: Awaited<ReturnType<typeof serveGraph>>[] = [];
after(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await rm(folder, { recursive: true });
});

async function served(how: Misbehaviour = {}) {
  const server = await serveGraph(inFolder("model.onnx"), how);
  servers.push(server);
  return server;
}

const remoteAt = (url: string) =>
  ({ backend: "remote", remoteUrl: url, remoteModel: "decision", modelPath }) as const;
const flagsFor = (url: string) => [
  ...["--backend", "remote", "--remote-url", url, "--remote-model", "decision"],
  ...["--model-path", modelPath],
];
const certificate = (name: string) => path.join(packageRoot, "test/support/tls", `${name}.crt`);

describe("a service that another one computes for", () => {
  it("by https with its certificate and a token from a file, says so in /health", async () => {
    const [cert, key] = await Promise.all(
      [certificate("loopback"), certificate("loopback").replace(/crt$/, "key")].map((file) =>
        readFile(file, "utf8"),
      ),
    );
    assert.ok(cert !== undefined && key !== undefined);
    const server = await served({ tls: { cert, key } });
    await writeFile(inFolder("token"), "s3cret\n");
    const remote = remoteAt(server.url);
    for (const remoteCa of ["", certificate("first")])
      await assert.rejects(createDecider({ ...remote, remoteCa }), {
        kind: "BACKEND_FAILED",
        message: /The server at https:.* cannot be reached: .*certificate/,
      });
    assert.equal(server.seen.length, 0);
    const flags = flagsFor(server.url);
    const secured = ["--remote-ca", certificate("loopback"), "--remote-token-file", inFolder("token")];
    const service = await Service.start([...flags, ...secured], { DECISION_REMOTE_TOKEN: "another" });
    try {
      const { backend, device, precision } = await service.health();
      assert.deepEqual([backend, device, precision], ["remote", "remote", "int8"]);
      await service.decide(SMALL);
      assert.deepEqual(
        [...new Set(server.seen.map(({ authorization }) => authorization))],
        ["Bearer s3cret"],
      );
      assert.ok(!service.log.includes("s3cret"));
    } finally {
      assert.equal(await service.stop(), 0);
    }
  });

  it("takes the token of the environment, which only the commands read", async () => {
    const server = await served();
    const remote = remoteAt(server.url);
    process.env.DECISION_REMOTE_TOKEN = "s3cret";
    try {
      const decider = await createDecider(remote);
      await decider.close();
    } finally {
      delete process.env.DECISION_REMOTE_TOKEN;
    }
    assert.equal(server.seen.at(-1)?.authorization, undefined);
    const flags = flagsFor(server.url);
    const service = await Service.start(flags, { DECISION_REMOTE_TOKEN: "s3cret" });
    assert.equal(await service.stop(), 0);
    assert.equal(server.seen.at(-1)?.authorization, "Bearer s3cret");
  });

  it("corrects answers by the vectors that the server gives, as without it", async () => {
    const server = await served();
    const remote = remoteAt(server.url);
    const body = JSON.stringify(SMALL);
    const scorer = await createScorer(remote, { hasVectors: true });
    const [found] = await scorer.score(body);
    await scorer.close();
    assert.ok(found?.vectors);
    const size = found.vectors.length / found.labels.length;
    const figures = { accuracy: 0.5, calibration_error: 0.1, log_loss: 0.7 };
    const question = {
      name: "q",
      form: found.form,
      question: found.digest,
      kind: "head",
      labels: found.labels,
      scale: [0.5, 1.5],
      bias: [1, -2],
      head: found.labels.map((_, row) => Array.from({ length: size }, (_, at) => ((at + row) % 7) / 70)),
      measured: { rows: 40, folds: 5, before: figures, after: figures },
    };
    const tuning = [inFolder("tuning.json")];
    const file = { format: "decision-tuning/1", model: scorer.model.id, precision: "int8" };
    await writeFile(inFolder("tuning.json"), JSON.stringify({ ...file, questions: [question] }));

    const probabilities: string[] = [];
    for (const options of [{ ...remote, tuning }, { modelPath, tuning }, remote]) {
      const decider = await createDecider(options);
      const { answers } = JSON.parse(await decider.ask("systemone", body));
      probabilities.push(JSON.stringify(answers.q.probabilities));
      await decider.close();
    }
    assert.equal(probabilities[0], probabilities[1]);
    assert.notEqual(probabilities[0], probabilities[2]);
  });
});
