/** Worker thread that computes pairs beside others: see pair-runner.ts. */
import { workerData } from "node:worker_threads";
import { type PairResults, type PairTask, runPairs } from "./pair-runner.ts";
import { PairSession } from "./pair-session.ts";
import { answerTasks } from "./worker-thread.ts";

const session = await PairSession.load(workerData, 1);
answerTasks<PairTask, PairResults>({ compute: (task) => runPairs(session, task) });
