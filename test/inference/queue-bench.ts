import { getEventListeners } from "node:events";
import { ServiceError } from "../../src/errors.ts";
import { type EngineSettings, Scheduler } from "../../src/inference/queue/scheduler.ts";
import type { QueuedScores } from "../../src/inference/queue/ticket.ts";
import { planOf, type TokenTree } from "../support/trees.ts";
import { FakeClock } from "./fake-clock.ts";
import { makeTree, pairsOf, ScriptedBackend } from "./scripted-backend.ts";

export const SETTINGS: EngineSettings = {
  queueCapacity: 4,
  maxBatchRequests: 32,
  maxBatchTokens: 1000,
  batchWaitMs: 0,
  cacheSize: 0,
  strict: false,
  deadlineMs: 60_000,
};

/** A request as a test sees it. */
export interface Asked {
  readonly pairs: readonly string[];
  readonly deadlineAt: number;
  readonly caller: AbortController;
  submit(): void;
  refuse(reason: unknown): void;
  /** Answers so far: more than one would be wrong. */
  readonly answers: (QueuedScores | ServiceError)[];
}

/** The real scheduler on a fake clock over a scripted backend. */
export class QueueBench {
  readonly clock = new FakeClock();
  readonly backend: ScriptedBackend;
  readonly settings: EngineSettings;
  readonly scheduler: Scheduler;

  constructor(settings: Partial<EngineSettings> = {}) {
    this.backend = new ScriptedBackend();
    this.settings = { ...SETTINGS, ...settings };
    this.scheduler = new Scheduler(this.backend, this.clock, this.settings);
    this.scheduler.open();
  }

  /** Takes a place for a tree that arrived `waitedMs` ago. @throws ServiceError like `admit` */
  admit(tree: TokenTree, waitedMs = 0): Asked {
    const caller = new AbortController();
    const deadlineAt = this.clock.now() + this.settings.deadlineMs - waitedMs;
    const ticket = this.scheduler.admit({ signal: caller.signal, deadlineAt });
    const answers: (QueuedScores | ServiceError)[] = [];
    ticket.answer.then(
      (scores) => answers.push(scores),
      (error) => answers.push(asServiceError(error)),
    );
    return {
      pairs: pairsOf([tree]),
      deadlineAt,
      caller,
      submit: () => this.scheduler.submit(ticket, planOf(tree)),
      refuse: (reason) => this.scheduler.refuse(ticket, reason),
      answers,
    };
  }

  /** Takes a place and submits at once. */
  ask(tree: TokenTree): Asked {
    const asked = this.admit(tree);
    asked.submit();
    return asked;
  }
}

/** How a request ended, or "open". */
export function outcomeOf({ answers }: Asked): string {
  const [answer] = answers;
  if (answer === undefined) return "open";
  return answer instanceof ServiceError ? answer.kind : "completed";
}

export function scoredOf(asked: Asked): QueuedScores {
  const [answer] = asked.answers;
  if (answer === undefined || answer instanceof ServiceError) throw new Error(outcomeOf(asked));
  return answer;
}

export function abortListenersOf({ caller }: Asked): number {
  return getEventListeners(caller.signal, "abort").length;
}

/** One question of `count` candidates of `length` tokens, all distinct by `id`, on a state and question of 10 each. */
export function flatTree(id: number, count: number, length = 20): TokenTree {
  const node = (offset: number, tokens: number) => ({ id: id * 1_000_000 + offset * 1_000, length: tokens });
  const candidates = Array.from({ length: count }, (_, at) => node(at + 2, length));
  return makeTree(node(0, 10), [{ question: node(1, 10), candidates }]);
}

function asServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new ServiceError("INTERNAL", "not a ServiceError");
}
