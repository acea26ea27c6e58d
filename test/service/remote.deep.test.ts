import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { assertKept } from "../../packages/conformance/test/kept.ts";
import { writeWholeGraph } from "../../src/models/architectures/whole-graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { balance } from "../support/balance.ts";
import { serveGraph } from "../support/inference-server.ts";
import { embeddedModel } from "../support/package-root.ts";
import { Service } from "./service.ts";

/** What the profile cannot tell of a service without a key. */
const WITHOUT_KEY = ["auth.accepted", "auth.each-request", "auth.elsewhere", "auth.missing", "auth.wrong"];
const REQUESTS = 1_000;
/** After so many, requests repeat. */
const DISTINCT = 60;
const CALLERS = 16;

const folder = await mkdtemp(path.join(tmpdir(), "remote-deep-"));
after(() => rm(folder, { recursive: true }));
await writeWholeGraph(await openModelPackage(embeddedModel), "u8u8", folder);
const served = () => serveGraph(path.join(folder, "model.onnx"));

async function withRemote(url: string, use: (service: Service) => Promise<void>): Promise<void> {
  const flags = ["--backend", "remote", "--remote-url", url, "--remote-model", "decision"];
  const service = await Service.start(flags);
  try {
    await use(service);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

const request = (at: number) => ({
  state: `The parcel ${at % 20} is here.${" It is late.".repeat(at % 5)}`,
  questions: { q: { type: "choice", instructions: "Which?", criteria: { a: "early", b: `late ${at % 3}` } } },
});

describe("a service that other servers compute for", () => {
  it("keeps the contract's profile seed", async () => {
    const server = await served();
    try {
      await withRemote(server.url, async ({ port }) => {
        await assertKept(
          { baseUrl: `http://127.0.0.1:${port}`, profile: "seed", timeoutSeconds: 60 },
          WITHOUT_KEY,
        );
      });
    } finally {
      await server.kill();
    }
  });

  it("loses none of 1,000 requests when one of two servers is killed, and answers them as without a server", async () => {
    const wanted: string[] = [];
    const local = await Service.start();
    for (let at = 0; at < DISTINCT; at++)
      wanted.push(JSON.stringify((await local.decide(request(at))).answers));
    await local.stop();

    const servers = await Promise.all([served(), served()]);
    const balancer = await balance(servers.map(({ port }) => port));
    let atKill: number[] = [];
    try {
      await withRemote(balancer.url, async (service) => {
        let sent = 0;
        let killed: Promise<void> | undefined;
        const caller = async () => {
          while (sent < REQUESTS) {
            const at = sent++;
            if (at === REQUESTS / 2) {
              atKill = servers.map(({ seen }) => seen.length);
              killed = servers[0]?.kill();
            }
            const { answers } = await service.decide(request(at));
            assert.equal(JSON.stringify(answers), wanted[at % DISTINCT]);
          }
        };
        await Promise.all(Array.from({ length: CALLERS }, caller));
        await killed;
        assert.equal((await service.health()).status, "ready");
      });
    } finally {
      await balancer.close();
      await servers[1]?.kill();
    }
    assert.ok(
      atKill.every((count) => count > 0),
      `both computed: ${atKill}`,
    );
    assert.equal(servers[0]?.seen.length, atKill[0]);
    assert.ok((servers[1]?.seen.length ?? 0) > (atKill[1] ?? 0));
  });
});
