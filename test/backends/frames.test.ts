import assert from "node:assert/strict";
import { it } from "node:test";
import { FrameReader, writeFrame } from "../../src/backends/native/frames.ts";
import type { FromProcess } from "../../src/backends/process/messages.ts";
import { listNodes } from "../../src/inference/nodes.ts";
import { leavesOfTrees } from "../support/trees.ts";

/** A frame as the worker writes it. */
function frame(header: object, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.from("DN01________");
  head.writeUInt32LE(text.length, 4);
  head.writeUInt32LE(payload.length, 8);
  return Buffer.concat([head, text, payload]);
}

it("nodes become their lengths, parents and keys, and their tokens in order", () => {
  const tokens = (...ids: number[]) => Int32Array.from(ids);
  const questions = [{ tokens: tokens(3), candidates: [tokens(4, 5), tokens(6)] }];
  const nodes = listNodes(leavesOfTrees([{ state: tokens(1, 2), questions }]));
  const written = writeFrame({ type: "score", id: 7, isAlone: true, nodes });
  const end = 12 + written.readUInt32LE(4);
  assert.equal(written.toString("utf8", 0, 4), "DN01");
  assert.deepEqual(JSON.parse(written.toString("utf8", 12, end)), {
    type: "score",
    id: 7,
    lengths: [2, 1, 2, 1],
    parents: [-1, 0, 1, 1],
    keys: nodes.keys,
  });
  assert.equal(written.length - end, written.readUInt32LE(8));
  assert.deepEqual([...new Int32Array(Uint8Array.from(written.subarray(end)).buffer)], [1, 2, 3, 4, 5, 6]);
});

for (const size of [1, 3, 1_000]) {
  it(`messages are put together from pieces of ${size} bytes`, () => {
    const counters = { stateHits: 1, stateMisses: 2, residentBytes: 3 };
    const numbers = new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer);
    const scored = { type: "scored", id: 1, forwards: 1, cachedTokens: 0, ...counters };
    const sent = Buffer.concat([
      frame({ type: "loaded", facts: { device: "cuda:0", precision: "bf16" } }),
      frame({ ...scored, pairs: 2, width: 2 }, numbers),
      frame({ ...scored, pairs: 0, width: 0 }),
      frame({ type: "pong", ...counters }),
    ]);
    const came: FromProcess[] = [];
    const reader = new FrameReader((message) => came.push(message));
    for (let at = 0; at < sent.length; at += size) reader.add(sent.subarray(at, at + size));
    assert.deepEqual(came, [
      { type: "loaded", facts: { device: "cuda:0", precision: "bf16" } },
      { ...scored, scores: Float32Array.of(1, 2), vectors: Float32Array.of(3, 4, 5, 6) },
      { ...scored, scores: new Float32Array(0) },
      { type: "pong", ...counters },
    ]);
  });
}

it("a long message is copied a few times, however many pieces it comes in", (t) => {
  const [pairs, width, size] = [1_000, 384, 65_536];
  const counters = { stateHits: 0, stateMisses: 0, residentBytes: 0 };
  const header = { type: "scored", id: 1, forwards: 1, cachedTokens: 0, ...counters, pairs, width };
  const sent = frame(header, new Uint8Array(pairs * (1 + width) * 4));
  const concat = t.mock.method(Buffer, "concat");
  let came = 0;
  const reader = new FrameReader(() => {
    came += 1;
  });
  for (let at = 0; at < sent.length; at += size) reader.add(sent.subarray(at, at + size));
  assert.equal(came, 1);
  const copied = concat.mock.calls.reduce((sum, { result }) => sum + (result?.length ?? 0), 0);
  assert.ok(copied <= 2 * sent.length, `${copied} bytes copied of a message of ${sent.length}`);
});

it("refuses bytes that are not a message, and messages with too few scores", () => {
  const reader = () => new FrameReader(() => {});
  for (const printed of ["Loading the module...\n", "hi", "DN"]) {
    const reading = reader();
    assert.throws(() => {
      reading.add(Buffer.from(printed));
      reading.add(frame({ type: "loaded" }));
    }, /invalid message/);
  }
  const counters = { stateHits: 0, stateMisses: 0, residentBytes: 0 };
  const header = { type: "scored", id: 1, forwards: 1, cachedTokens: 0, ...counters, pairs: 2, width: 0 };
  assert.throws(() => reader().add(frame(header, new Uint8Array(4))), /too few scores/);
});
