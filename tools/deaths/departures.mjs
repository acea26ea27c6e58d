import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { REQUEST_LIMITS } from "../../dist/src/decisions/request.js";
import { startService } from "../service.mjs";
import { call, count, makeBodies, until } from "./calls.mjs";

/** Clients per round. */
const CLIENTS = 1_000;
/** Time for the service to notice closed connections and for a batch to end. Chosen: a batch takes some 100 ms. */
const SETTLE_MS = 2_000;

/**
 * A thousand clients send requests while the model is busy with a long one, and disconnect before their turn. Batches
 * have one request. Control: the clients stay.
 */
export async function departures({ rounds, random, isControl }) {
  const flags = ["--log-level", "error", "--queue-size", String(CLIENTS), "--max-batch-size", "1"];
  const service = await startService(flags);
  const { port } = service;
  const answers = [];
  const broken = [];
  for (let round = 0; round < rounds; round++) {
    const leaving = new AbortController();
    setMaxListeners(CLIENTS, leaving.signal);
    const ended = new AbortController();
    const before = await service.health();
    const busy = call(port, { ...heavy(round), signal: ended.signal });
    await until(async () => (await service.health()).running_requests === 1, "the model is busy");
    const clients = makeBodies(random, CLIENTS).map((body) => ask(port, body, leaving.signal));
    await until(async () => (await service.health()).queued_requests === CLIENTS, "all of them wait");
    if (!isControl) leaving.abort();
    await sleep(SETTLE_MS);
    const left = await service.health();
    ended.abort(); // the model is now free for requests that still wait
    await sleep(SETTLE_MS);
    const after = await service.health();
    leaving.abort();
    answers.push(await busy, ...(await Promise.all(clients)));
    if (left.running_requests !== 1)
      broken.push("inconclusive: the model was done before the clients disconnected");
    if (left.queued_requests > 0) broken.push("the queue is not empty after the clients disconnected");
    if (after.running_requests > 0) broken.push("requests are running without any client");
    if (after.completed_requests > before.completed_requests)
      broken.push("requests of disconnected clients were computed");
    if (after.model_batches > left.model_batches + 1)
      broken.push("batches were computed for disconnected clients");
    if (after.cancelled_requests - before.cancelled_requests !== CLIENTS + 1)
      broken.push("not all requests are counted as cancelled");
  }
  await service.end();
  return { figures: { "requests, by status": count(answers) }, broken };
}

const ask = (port, body, signal) => call(port, { method: "POST", target: "/v1/systemone", body, signal });

const { maxCandidates, maxPairs } = REQUEST_LIMITS;

/** Half a minute of inference in many batches: as many pairs as a request may have. */
function heavy(round) {
  const words = "go ".repeat(600).trim();
  const question = (part) => ({
    type: "score",
    instructions: `part ${part}`,
    criteria: Array.from({ length: maxCandidates }, (_, at) => `${round} ${at} ${words}`),
  });
  const questions = Object.fromEntries(
    Array.from({ length: maxPairs / maxCandidates }, (_, part) => [`q${part}`, question(part)]),
  );
  return {
    method: "POST",
    target: "/v1/systemone",
    body: JSON.stringify({ state: `heavy ${round}`, questions }),
  };
}
