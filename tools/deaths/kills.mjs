import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../service.mjs";
import { answersIn, Callers, call, count, makeBodies, until } from "./calls.mjs";

/** Chosen: further callers would only wait. */
const CALLERS = 12;
const READY_MS = 2_000;
/** Requests given up per death. Retries are computed alone, so a second death can hit at most one. */
const MOST_GIVEN_UP = 1;

/**
 * Repeatedly kills the inference process, up to a second after it was ready. Control: the process is stopped instead,
 * which is noticed only after some seconds.
 */
export async function kills({ rounds, random, isControl }) {
  const service = await startService(["--log-level", "error"]);
  const { port } = service;
  const bodies = [];
  for (const body of makeBodies(random, 24)) {
    const { text } = await call(port, { method: "POST", target: "/v1/systemone", body });
    bodies.push({ body, wanted: answersIn(text) });
  }
  const callers = new Callers(port, CALLERS, random, bodies);
  const readyMs = [];
  /** Time of each kill. */
  const deaths = [];
  for (let round = 0; round < rounds; round++) {
    await sleep(random.between(0, 1_000));
    const since = performance.now();
    process.kill(service.inferencePids()[0], isControl ? "SIGSTOP" : "SIGKILL");
    const isReady = async () => (await call(port, { target: "/ready" })).status === 200;
    await until(async () => !(await isReady()), "the service notices the death");
    await until(isReady, "it is ready again");
    readyMs.push(performance.now() - since);
    deaths.push(since);
  }
  await callers.stop();
  await service.end();
  const { answers } = callers;
  const givenUp = Math.max(...perDeath(answers, deaths));
  const lost = answers.filter(({ status }) => status !== 200 && status !== 500).length;
  const wrong = answers.filter(({ isRight }) => !isRight).length;
  const sorted = readyMs.sort((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]);
  return {
    figures: {
      "requests, by status": count(answers),
      "most requests given up by one death": givenUp,
      "ready again, median": `${at(0.5)} ms`,
      "ready again, p95": `${at(0.95)} ms`,
      "ready again, slowest": `${at(1)} ms`,
    },
    broken: [
      at(1) > READY_MS && `ready again after ${at(1)} ms, more than ${READY_MS}`,
      lost > 0 && `${lost} requests lost`,
      wrong > 0 && `${wrong} answers differ from those of an undisturbed service`,
      givenUp > MOST_GIVEN_UP &&
        `${givenUp} requests given up by one death, at most ${MOST_GIVEN_UP} expected`,
    ].filter(Boolean),
  };
}

/** The number of requests given up between each death and the next. */
function perDeath(answers, deaths) {
  const counts = deaths.map(() => 0);
  for (const { status, endedAt } of answers) {
    const death = deaths.findLastIndex((at) => at <= endedAt);
    if (status === 500 && death >= 0) counts[death] += 1;
  }
  return counts;
}
