import assert from "node:assert/strict";
import { test } from "node:test";
import { head, WireClient } from "../server/wire.ts";
import { testQueue } from "./queue-cases.ts";
import { Service } from "./service.ts";

testQueue(
  async ({ queueSize = 128, deadlineMs = 60_000, apiKey }) => {
    const flags = ["--queue-size", `${queueSize}`, "--deadline-ms", `${deadlineMs}`, "--max-batch-size", "1"];
    const service = await Service.start(flags, apiKey === undefined ? {} : { DECISION_API_KEY: apiKey });
    return { service, release: () => {} };
  },
  { parts: 50 },
);

test("SIGTERM ends an idle service with an open connection", async () => {
  const service = await Service.start();
  const idle = await WireClient.open(service.port);
  await idle.send(head("GET /health"));
  await idle.read();
  assert.equal(await service.stop(), 0);
  idle.close();
});
