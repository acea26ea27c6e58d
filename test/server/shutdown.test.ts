import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/inference/clock.ts";
import { installShutdown, type StopSignal } from "../../src/server/shutdown.ts";
import { FakeClock } from "../inference/fake-clock.ts";
import { fakeContract, fakeServer, json, KEY, memoryLog } from "./doubles.ts";
import { head, untilRead, WireClient } from "./wire.ts";

const HEALTH = head("GET /health");
const INFERENCE = `${head("POST /v1/systemone", "Content-Type: application/json", `Authorization: Bearer ${KEY}`, "Content-Length: 2")}{}`;

/** A process that keeps its exit codes. */
class FakeProcess extends EventEmitter {
  readonly codes: number[] = [];

  exit(code: number): void {
    this.codes.push(code);
    super.emit("exit");
  }

  signal(name: StopSignal): void {
    super.emit(name, name);
  }
}

/** A drain that ends when it is told to. */
function fakeEngine() {
  let finish = (): void => {};
  const drained = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const calls: string[] = [];
  return {
    calls,
    finish: () => finish(),
    drain: () => {
      calls.push("drain");
      return drained;
    },
    close: async () => {
      calls.push("close");
    },
  };
}

async function setUp(clock: Clock = systemClock) {
  const held: (() => void)[] = [];
  const started = new EventEmitter();
  const answer = { padding: "" };
  const contract = fakeContract(async ({ operationId }) => {
    if (operationId === "systemone") {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        started.emit("held");
      });
    }
    return json(200, { operation: operationId, ...answer });
  });
  const server = await fakeServer({ contract });
  const close = server.server.close.bind(server.server);
  server.server.close = (done) => {
    queueMicrotask(() => started.emit("closing"));
    return close(done);
  };
  await server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.server.address() as AddressInfo; // a TCP listener's address is an AddressInfo
  const engine = fakeEngine();
  const process = new FakeProcess();
  installShutdown({ server, engine, log: memoryLog(), clock, drainMs: 60_000, process });
  return { server, port, engine, process, held, started, answer };
}

test("accepted requests are answered, /health too until the drain is over, then the exit code is 0", async () => {
  const { port, engine, process, held, started, server } = await setUp();
  const caller = await WireClient.open(port);
  const running = once(started, "held");
  await caller.send(INFERENCE);
  await running;

  process.signal("SIGTERM");
  assert.deepEqual(engine.calls, ["drain"]);
  const prober = await WireClient.open(port);
  await prober.send(HEALTH);
  const health = await prober.read();
  assert.deepEqual([health.status, health.headers.connection], [200, "close"]);

  for (const release of held) release();
  const answer = await caller.read();
  assert.deepEqual([answer.status, answer.headers.connection], [200, "close"]);
  const exited = once(process, "exit");
  engine.finish();
  await exited;
  assert.deepEqual(process.codes, [0]);
  assert.deepEqual(engine.calls, ["drain", "close"]);
  assert.equal(server.server.listening, false);
});

test("a connection that was on its way when the signal came is answered, though nothing is left to drain", async () => {
  const clock = new FakeClock();
  const { port, engine, process, server } = await setUp(clock);
  process.signal("SIGTERM");
  engine.finish();
  const late = await WireClient.open(port);
  await late.send(HEALTH);
  assert.equal((await late.read()).status, 200);
  assert.equal(server.server.listening, true);
  const exited = once(process, "exit");
  clock.advance(250);
  await exited;
  assert.deepEqual(process.codes, [0]);
});

test("an idle connection does not hold up the exit", async () => {
  const { port, engine, process } = await setUp();
  const idle = await WireClient.open(port);
  await idle.send(HEALTH);
  await idle.read();
  const exited = once(process, "exit");
  process.signal("SIGINT");
  engine.finish();
  await exited;
  await idle.ended();
  assert.deepEqual(process.codes, [0]);
});

test("neither a drain without end nor a request that never comes whole holds up the exit", async () => {
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 0,
    after(ms, callback) {
      waits.push(ms);
      const timer = setImmediate(callback); // every bound has just passed
      return () => clearImmediate(timer);
    },
  };
  const { port, process } = await setUp(clock);
  const slow = await WireClient.open(port);
  await slow.send("GET /health HTTP/1.1\r\nHost:");
  const exited = once(process, "exit");
  process.signal("SIGTERM");
  await exited;
  await slow.ended();
  assert.deepEqual(process.codes, [0]);
  assert.equal(waits[0], 60_000);
});

test("a large last answer that is still on its way is not cut off", async () => {
  const { port, engine, process, held, started, answer } = await setUp();
  answer.padding = "x".repeat(64 * 1024 * 1024);
  const caller = await WireClient.open(port);
  const running = once(started, "held");
  await caller.send(INFERENCE);
  await running;
  caller.socket.pause();
  for (const release of held) release();
  const exited = once(process, "exit");
  const closing = once(started, "closing");
  process.signal("SIGTERM");
  engine.finish();
  await closing;
  let bytes = 0;
  caller.socket.removeAllListeners("data").on("data", (chunk) => {
    bytes += chunk.length;
  });
  caller.socket.resume();
  await once(caller.socket, "end");
  caller.close();
  assert.ok(bytes > answer.padding.length, `${bytes} bytes came`);
  await exited;
  assert.equal(caller.error, undefined);
});

test("a body that is not whole when all else is answered gets 503 and no reset", async () => {
  const { port, engine, process } = await setUp();
  const [half, none] = [await WireClient.open(port), await WireClient.open(port)];
  await half.send(INFERENCE.slice(0, -1));
  await none.send(INFERENCE.slice(0, -2));
  await untilRead(port);
  const exited = once(process, "exit");
  process.signal("SIGTERM");
  engine.finish();
  for (const client of [half, none]) {
    const { status, headers } = await client.read();
    assert.deepEqual([status, headers.connection], [503, "close"]);
    await client.ended();
    assert.equal(client.error, undefined);
    client.close();
  }
  await exited;
});

for (const { signal, code } of [
  { signal: "SIGINT", code: 130 },
  { signal: "SIGTERM", code: 143 },
] as const) {
  test(`a second signal, ${signal}, exits at once with ${code}, unless it comes within a second`, async () => {
    const clock = new FakeClock();
    const { process, engine } = await setUp(clock);
    process.signal("SIGTERM");
    clock.advance(999);
    process.signal(signal);
    assert.deepEqual(process.codes, [], "one wish that came twice");
    clock.advance(1);
    process.signal(signal);
    assert.deepEqual(process.codes, [code]);
    const exited = once(process, "exit"); // the double lives on
    engine.finish();
    await exited;
  });
}
