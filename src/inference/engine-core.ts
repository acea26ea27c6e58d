import type { RenderedRequest } from "../decisions/rendered.ts";
import { planRequest, type Tokenizer } from "./plan.ts";
import type {
  Backend,
  Clock,
  Engine,
  EngineHealth,
  EngineSettings,
  EngineStatus,
  ModelFacts,
  ScoredRequest,
} from "./ports.ts";
import { Scheduler } from "./scheduler.ts";

export interface EngineParts {
  readonly model: ModelFacts;
  readonly settings: EngineSettings;
  readonly backend: Backend;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  /** What /health says of the backend. */
  readonly info: { readonly backend: string; readonly device: string; readonly precision: string };
}

/** Admission, then tokens, then the queue: one model and one queue, over any backend. */
export class EngineCore implements Engine {
  readonly model: ModelFacts;
  readonly #parts: EngineParts;
  readonly #scheduler: Scheduler;
  readonly #startedAt: number;
  #phase: "starting" | "open" | "failed" | "draining" = "starting";

  constructor(parts: EngineParts) {
    this.model = parts.model;
    this.#parts = parts;
    this.#scheduler = new Scheduler(parts.backend, parts.clock, parts.settings);
    this.#startedAt = parts.clock.now();
  }

  /** Starts the backend; until then requests are turned away. @throws what the backend throws */
  async start(): Promise<void> {
    try {
      await this.#parts.backend.start();
      this.#scheduler.open();
      this.#enter("open");
    } catch (cause) {
      this.#scheduler.fail(cause);
      this.#enter("failed");
      throw cause;
    }
  }

  async score(
    request: RenderedRequest,
    signal: AbortSignal,
    arrivedAt: number = this.#parts.clock.now(),
  ): Promise<ScoredRequest> {
    const { clock, settings, tokenizer } = this.#parts;
    const admittedAt = clock.now();
    const place = this.#scheduler.admit({ signal, deadlineAt: arrivedAt + settings.deadlineMs });
    let tokenize = 0;
    planRequest(request, this.model.limits, tokenizer, place.signal)
      .then((plan) => {
        tokenize = clock.now() - admittedAt;
        place.submit(plan);
      })
      .catch(place.refuse);
    const scored = await place.answer;
    return { ...scored, timing: { ...scored.timing, tokenize } };
  }

  health(): EngineHealth {
    const { clock, info, settings } = this.#parts;
    return {
      status: this.#status(),
      backend: info.backend,
      device: info.device,
      precision: info.precision,
      uptimeSeconds: (clock.now() - this.#startedAt) / 1000,
      settings,
      counters: this.#scheduler.counters(),
    };
  }

  /** Lets nobody in any more; resolves when every accepted request has been answered. */
  drain(): Promise<void> {
    this.#phase = "draining";
    return this.#scheduler.drain();
  }

  /** Ends at once: answers what is left with DRAINING and closes the backend. */
  async close(): Promise<void> {
    this.#phase = "draining";
    this.#scheduler.close();
    await this.#parts.backend.close();
  }

  /** Draining is final. */
  #enter(phase: "open" | "failed"): void {
    if (this.#phase === "starting") this.#phase = phase;
  }

  #status(): EngineStatus {
    if (this.#phase !== "open") return this.#phase;
    return this.#parts.backend.isReady ? "ready" : "starting"; // it is loading the model anew; requests wait
  }
}
