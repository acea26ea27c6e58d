import { type FastServiceOptions, startFastService } from "../support/fast-service.ts";
import { Client } from "./service.ts";

/** The service in the test's own process, over a model that takes no time. */
export class FastService extends Client {
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    super(Number(new URL(url).port));
    this.#close = close;
  }

  static async start(options: FastServiceOptions = {}): Promise<FastService> {
    const { url, close } = await startFastService(options);
    return new FastService(url, close);
  }

  async stop(): Promise<void> {
    this.hangUp();
    await this.#close();
  }
}
