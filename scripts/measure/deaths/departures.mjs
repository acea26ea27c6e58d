import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { REQUEST_LIMITS } from "../../../dist/src/decisions/limits.js";
import { call, count, health, makeBodies, startService, until } from "./service.mjs";

/** Each round. */
const CLIENTS = 1_000;
/** Chosen: time for the service to hear that connections have closed, and for a batch to end. */
const SETTLE_MS = 2_000;

/**
 * A thousand clients ask while the model is busy with a long request, which one request a batch keeps it, and leave before it is their
 * turn. Control: they stay.
 */
export async function departures({ rounds, random, isControl }) {
  const { child, exited, port } = await startService([
    "--queue-size",
    String(CLIENTS),
    "--max-batch-size",
    "1",
  ]);
  const answers = [];
  const broken = [];
  for (let round = 0; round < rounds; round++) {
    const leaving = new AbortController();
    setMaxListeners(CLIENTS, leaving.signal);
    const ended = new AbortController();
    const before = await health(port);
    const busy = call(port, { ...heavy(round), signal: ended.signal });
    await until(async () => (await health(port)).running_requests === 1, "the model is busy");
    const clients = makeBodies(random, CLIENTS).map((body) => ask(port, body, leaving.signal));
    await until(async () => (await health(port)).queued_requests === CLIENTS, "all of them wait");
    if (!isControl) leaving.abort();
    await sleep(SETTLE_MS);
    const left = await health(port);
    ended.abort(); // now the model is free for whoever still waits
    await sleep(SETTLE_MS);
    const after = await health(port);
    leaving.abort();
    answers.push(await busy, ...(await Promise.all(clients)));
    if (left.running_requests !== 1) broken.push("proves nothing: the model was done before they had left");
    if (left.queued_requests > 0) broken.push("the queue is not empty after they have left");
    if (after.running_requests > 0) broken.push("something runs, and nobody is there");
    if (after.completed_requests > before.completed_requests) broken.push("some of them were computed");
    if (after.model_batches > left.model_batches + 1) broken.push("batches were computed for nobody");
    if (after.cancelled_requests - before.cancelled_requests !== CLIENTS + 1)
      broken.push("not all of them are counted as cancelled");
  }
  child.kill("SIGTERM");
  await exited;
  return { figures: { "requests, by status": count(answers) }, broken };
}

const ask = (port, body, signal) => call(port, { method: "POST", target: "/v1/systemone", body, signal });

const { maxCandidates, maxPairs } = REQUEST_LIMITS;

/** Half a minute of work, in many batches: as many pairs as a request may have. */
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
