import assert from "node:assert/strict";
import {
  onnxBackend,
  type PlantedFault,
  plantedInNode,
  type TestedBackend,
} from "../support/tested-backends.ts";
import { MARK, NOUL, Service, SMALL, words } from "./service.ts";

/** Flags for one request per batch and the most verbose log. */
const FLAGS = ["--max-batch-size", "1", "--log-level", "debug"];

export async function withService(
  env: Readonly<Record<string, string>>,
  run: (service: Service) => Promise<void>,
  flags: readonly string[] = FLAGS,
): Promise<void> {
  const service = await Service.start(flags, env);
  try {
    await run(service);
  } finally {
    assert.equal(await service.stop(), 0);
  }
}

/** A state of more than 100 tokens, which triggers a planted fault. */
const POISON = {
  state: `${MARK} ${words(110)} ${MARK}`,
  questions: { [MARK]: { ...NOUL, instructions: MARK, criteria: { true: MARK } } },
};

/** Sends a request that triggers the fault in a batch with eight others, which must be answered. */
export async function assertCompanyIsAnswered(
  fault: PlantedFault,
  { planted, flags: chosen, assertSame }: TestedBackend = onnxBackend,
): Promise<void> {
  // all of them come into one batch: they wait for each other, each is small, and together they have at most a quantum
  const flags = ["--batch-wait-ms", "1000", "--max-batch-tokens", "800", "--log-level", "debug", ...chosen];
  const run = async (service: Service) => {
    const companions = Array.from({ length: 8 }, (_, at) => ({
      ...SMALL,
      state: `Parcel ${at} is here.`,
    }));
    const wanted = await Promise.all(companions.map((body) => service.decide(body)));
    // how long a run takes is known after three
    for (let run = 0; run < 3; run++) await service.decide(SMALL);
    const { model_batches: batches } = await service.health();
    const innocent = companions.map((body) => service.post("/v1/systemone", body));
    const { status, headers, body } = await service.post("/v1/systemone", POISON);
    assert.equal(status, 500);
    assert.equal(headers["retry-after"], undefined);
    assert.match(String(body.detail), new RegExp(String(headers["x-request-id"])));
    for (const [at, reply] of (await Promise.all(innocent)).entries()) {
      assert.equal(reply.status, 200, reply.text);
      assertSame(reply.body.answers, wanted[at]?.answers ?? {});
    }
    const deaths = fault === "nan" ? 0 : 2;
    await service.until((health) => health.status === "ready");
    await service.untilLogged(
      (log) => log.split("inference process ended, restarting it").length - 1 === deaths,
    );
    const health = await service.health();
    assert.deepEqual(
      [health.failed_requests, health.completed_requests, health.running_requests],
      [1, 8 + 3 + 8, 0],
    );
    assert.equal(Number(health.model_batches) - Number(batches), 1 + 9, "one in company, then each alone");
  };
  await withService(planted(fault), run, flags);
}

interface Silence {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Whether the process ends by it. */
  readonly isDeath?: boolean;
}

/** Sends a request that triggers the fault, and checks that the log has the stack trace but not the request's texts. */
export async function assertCrashIsSilent(
  fault: string,
  trace: RegExp,
  { env = plantedInNode(fault), flags = [], isDeath = true }: Silence = {},
): Promise<void> {
  const run = async (service: Service) => {
    const [poisoned, ...others] = await Promise.all(
      [POISON, SMALL, SMALL].map((body) => service.post("/v1/systemone", body)),
    );
    assert.equal(poisoned?.status, 500, poisoned?.text);
    for (const { status, text } of others) assert.equal(status, 200, text);
    await service.until(({ status }) => status === "ready");
    await service.untilLogged(
      (log) => trace.test(log) && log.includes("inference process ended, restarting it") === isDeath,
    );
    assert.ok(!service.log.includes(MARK), "the log repeats a text of the request");
  };
  await withService(env, run, [...FLAGS, ...flags]);
}
