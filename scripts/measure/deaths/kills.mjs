import { setTimeout as sleep } from "node:timers/promises";
import {
  answersIn,
  Callers,
  call,
  count,
  inferenceProcessOf,
  makeBodies,
  startService,
  until,
} from "./service.mjs";

/** Chosen: more than a batch holds under way would only wait. */
const CALLERS = 12;
const READY_MS = 2_000;
/** Second tries are computed alone, so a death hits at most one. */
const MOST_GIVEN_UP = 1;

/**
 * The inference process is killed again and again, up to a second after it was ready. Control: it is stopped and not killed, which
 * shows only after some seconds.
 */
export async function kills({ rounds, random, isControl }) {
  const { child, exited, port } = await startService();
  const bodies = [];
  for (const body of makeBodies(random, 24)) {
    const { text } = await call(port, { method: "POST", target: "/v1/systemone", body });
    bodies.push({ body, wanted: answersIn(text) });
  }
  const callers = new Callers(port, CALLERS, random, bodies);
  const readyMs = [];
  /** When each was caused. */
  const deaths = [];
  for (let round = 0; round < rounds; round++) {
    await sleep(random.between(0, 1_000));
    const since = performance.now();
    process.kill(inferenceProcessOf(child.pid), isControl ? "SIGSTOP" : "SIGKILL");
    const isReady = async () => (await call(port, { target: "/ready" })).status === 200;
    await until(async () => !(await isReady()), "the death shows");
    await until(isReady, "it is ready again");
    readyMs.push(performance.now() - since);
    deaths.push(since);
  }
  await callers.stop();
  child.kill("SIGTERM");
  await exited;
  const { answers } = callers;
  const givenUp = Math.max(...perDeath(answers, deaths));
  const lost = answers.filter(({ status }) => status !== 200 && status !== 500).length;
  const wrong = answers.filter(({ isRight }) => !isRight).length;
  const sorted = readyMs.sort((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]);
  return {
    figures: {
      "requests, by status": count(answers),
      "most given up by one death": givenUp,
      "ready again, median": `${at(0.5)} ms`,
      "ready again, 95 of 100": `${at(0.95)} ms`,
      "ready again, slowest": `${at(1)} ms`,
    },
    broken: [
      at(1) > READY_MS && `ready again after ${at(1)} ms, more than ${READY_MS}`,
      lost > 0 && `${lost} requests lost`,
      wrong > 0 && `${wrong} answers differ from those of an undisturbed service`,
      givenUp > MOST_GIVEN_UP && `${givenUp} requests given up by one death: it may hit one second try`,
    ].filter(Boolean),
  };
}

/** Requests that were given up between each death and the next one. */
function perDeath(answers, deaths) {
  const counts = deaths.map(() => 0);
  for (const { status, endedAt } of answers) {
    const death = deaths.findLastIndex((at) => at <= endedAt);
    if (status === 500 && death >= 0) counts[death] += 1;
  }
  return counts;
}
