import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type Media, operations } from "../contract/document.ts";
import { packageRoot } from "../support/package-root.ts";
import { Service } from "./service.ts";

/** Scores of another processor may differ in the last digits. */
const TOLERANCE = 0.01;

let service: Service;
before(async () => {
  service = await Service.start();
});
after(() => service.stop());

/** Numbers nearly equal, everything else equal, but for how long it took. */
function assertAlike(came: unknown, shown: unknown, where: string): void {
  if (typeof shown === "number" && typeof came === "number") {
    assert.ok(Math.abs(came - shown) < TOLERANCE, `${where}: shown ${shown}, came ${came}`);
  } else if (typeof shown === "object" && shown !== null && typeof came === "object" && came !== null) {
    assert.deepEqual(Object.keys(came), Object.keys(shown), where);
    for (const [name, value] of Object.entries(shown)) {
      if (name !== "latency_ms") assertAlike(Reflect.get(came, name), value, `${where}.${name}`);
    }
  } else {
    assert.equal(came, shown, where);
  }
}

async function answerTo(url: string, body: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${service.port}${url}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  assert.equal(response.status, 200);
  return response.json();
}

describe("what is shown as the embedded model's answer is its answer", () => {
  const shown = [
    { operationId: "systemone", example: "complaint" },
    { operationId: "rank", example: "labelled" },
  ];
  for (const { operationId, example } of shown) {
    it(`in the contract: ${operationId}, ${example}`, async () => {
      const operation = operations.find((each) => each.operationId === operationId);
      const valueIn = (content?: Readonly<Record<string, Media>>) =>
        content?.["application/json"]?.examples?.[example]?.value;
      const request = valueIn(operation?.requestBody?.content);
      const response = valueIn(operation?.responses["200"]?.content);
      assert.ok(request && response);
      assertAlike(await answerTo(`/v1/${operationId}`, JSON.stringify(request)), response, example);
    });
  }

  it("in the README", async () => {
    const readme = readFileSync(path.join(packageRoot, "README.md"), "utf8");
    const [, request] = /v1\/systemone -H.*?-d '(\{[^']*\})'/s.exec(readme) ?? [];
    const [, response] = /```json\n(\{\n {2}"answers".*?\n\})\n```/s.exec(readme) ?? [];
    assert.ok(request && response);
    assertAlike(await answerTo("/v1/systemone", request), JSON.parse(response), "README");
  });
});

it("health has its members, and ready the same", async () => {
  const MEMBERS = [
    ...["status", "model", "aliases", "backend", "device", "precision", "strict", "temperature", "version"],
    ...["model_version", "uptime_seconds", "limits", "queued_requests", "queue_capacity", "running_requests"],
    "estimated_wait_seconds",
    ...[
      "completed_requests",
      "rejected_requests",
      "timed_out_requests",
      "failed_requests",
      "cancelled_requests",
    ],
    ...["model_batches", "model_forwards", "cache_size", "cache_entries", "cache_hits", "model_memory_bytes"],
  ];
  const health = await service.health();
  assert.deepEqual(Object.keys(health).sort(), MEMBERS.sort());
  const contract = JSON.parse(readFileSync(path.join(packageRoot, "generated/openapi.typed.json"), "utf8"));
  const example = contract.components.examples.Ready.value;
  assert.deepEqual(Object.keys(example).sort(), MEMBERS, "the example in the contract");
  const ready = JSON.parse((await service.call("GET", "/ready")).text);
  const unsteady = { uptime_seconds: 0, model_memory_bytes: 0 };
  assert.deepEqual({ ...ready, ...unsteady }, { ...health, ...unsteady });
  assert.equal(health.status, "ready");
  assert.equal(health.precision, "int8", "what auto is on a CPU");
  assert.equal(health.temperature, 4.136820402388508);
  assert.deepEqual(ready.limits, {
    ...{ max_body_bytes: 2_097_152, max_nesting: 100, max_questions: 32, min_candidates: 2 },
    ...{ max_candidates: 64, max_pairs: 256, max_state_question_tokens: 2048, max_candidate_tokens: 768 },
    ...{ deadline_seconds: 60, queue_capacity: 128, max_batch_requests: 32 },
    max_batch_tokens: ready.limits.max_batch_tokens,
    batch_wait_ms: ready.limits.batch_wait_ms,
  });
});
