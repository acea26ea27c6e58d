import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../service.mjs";
import { Callers, count, makeBodies } from "./calls.mjs";

/**
 * Sends SIGTERM to a service under load, a new one each round. A request sent before the signal must be answered with
 * 200, or with 503 if it was read after the signal. Control: the signal is SIGKILL.
 */
export async function stops({ rounds, random, isControl }) {
  const bodies = makeBodies(random, 24).map((body) => ({ body }));
  const all = [];
  const exitCodes = [];
  const tookMs = [];
  let lost = 0;
  for (let round = 0; round < rounds; round++) {
    const { child, exited, port } = await startService(["--log-level", "error"]);
    const callers = new Callers(port, random.between(1, 24), random, bodies);
    await sleep(random.between(50, 500));
    const signalledAt = performance.now();
    child.kill(isControl ? "SIGKILL" : "SIGTERM");
    const code = await exited;
    tookMs.push(performance.now() - signalledAt);
    exitCodes.push(code);
    await callers.stop();
    const before = callers.answers.filter(({ sentAt }) => sentAt < signalledAt);
    lost += before.filter(({ status }) => status !== 200 && status !== 503).length;
    all.push(...before);
  }
  const failed = exitCodes.filter((code) => code !== 0).length;
  return {
    figures: {
      "requests sent before the signal": count(all),
      lost: lost,
      "exit codes other than 0": failed,
      "longest time from the signal to the end": `${Math.round(Math.max(...tookMs))} ms`,
    },
    broken: [
      lost > 0 && `${lost} requests lost`,
      failed > 0 && `${failed} services did not exit with code 0`,
    ].filter(Boolean),
  };
}
