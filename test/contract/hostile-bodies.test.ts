import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { decodeBody, WORKING_BYTES } from "../../src/contract/bodies/decoding.ts";
import type { Contract } from "../../src/contract/call.ts";
import type { SystemoneBody } from "../../src/decisions/request.ts";
import { readSystemone } from "../../src/decisions/systemone.ts";
import { queueErrors } from "../../src/inference/queue/ticket.ts";
import type { SliceClock } from "../../src/json/slices.ts";
import { fakeContract } from "./fake-contract.ts";
import { type HostileBody, hostileBodies } from "./hostile-bodies.ts";

const SIZE = 150_000;
const LIMIT = 200_000;
const MODEL = {
  id: "n/m@0",
  names: ["m"],
  aliases: [],
  showsLabels: false,
  limits: { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 },
};

/** A clock by which each step takes a whole slice: a turn of the event loop is a step. Ends the reading after so many. */
function countingClock(most = Infinity) {
  const ending = new AbortController();
  let ms = 0;
  const clock: SliceClock & { turns: number } = {
    turns: 0,
    now: () => {
      ms += 1000;
      return ms;
    },
    pause: async () => {
      clock.turns += 1;
      if (clock.turns >= most) ending.abort(queueErrors.tooLate());
    },
  };
  return { clock, signal: ending.signal };
}

/** Reads a body as the service does. @returns the status, the turns it took, and the memory that was reserved */
async function read(contract: Contract, { coding, bytes }: HostileBody, most?: number) {
  const { clock, signal } = countingClock(most);
  const reading = { clock, signal, end() {} };
  let reserved = 0;
  const grow = (count: number) => {
    reserved += count;
  };
  const gone = new AbortController().signal;
  const request = { operationId: "systemone", requestId: "r", signal: gone, reading };
  try {
    const body =
      coding === undefined ? bytes : await decodeBody(bytes, coding, { maxBytes: LIMIT, grow }, reading);
    const { status } = await contract.call({ ...request, body });
    return { status, reserved, turns: clock.turns };
  } catch (error) {
    return { status: contract.errorReply(error, "r").status, reserved, turns: clock.turns };
  }
}

describe("a hostile body", () => {
  let contract: Contract;
  before(async () => {
    contract = await fakeContract({
      systemone: async ({ body, signal }: { body: SystemoneBody; signal: AbortSignal }) => {
        await readSystemone(body, MODEL, { signal });
        return { status: 200, body: {} };
      },
    });
  });

  for (const body of hostileBodies(SIZE)) {
    it(`is answered or refused: ${body.name}, ${body.coding ?? "identity"}`, async () => {
      const { status, reserved, turns } = await read(contract, body);
      assert.ok([200, 413, 422].includes(status), `status ${status}`);
      assert.ok(reserved <= LIMIT + WORKING_BYTES, `${reserved} bytes were reserved`);
      if (turns < 4) return; // refused at its begin
      const stopped = await read(contract, body, 2);
      assert.equal(stopped.status, 504, "at the deadline it stops");
      assert.equal(stopped.turns, 2, "and does nothing more");
    });
  }
});
