import type { IncomingMessage } from "node:http";
import { ServiceError } from "../errors.ts";
import { announcesMoreThan, declaredBodyBytes } from "./headers.ts";

/** The bodies that src/json reads one after the other. */
const LONG_BYTES = 65_536;

/**
 * Bounds the requests with long bodies that are under way, from the first byte of the body to the answer: bodies are read
 * before there is a place in the queue, and a thousand of 2 MiB would be 2 GiB.
 */
export class LongBodies {
  readonly #most: number;
  #underWay = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws ServiceError QUEUE_FULL */
  async bounded<T>(request: IncomingMessage, maxBodyBytes: number, run: () => Promise<T>): Promise<T> {
    const isRefusedUnread = announcesMoreThan(maxBodyBytes, request);
    if (isRefusedUnread || declaredBodyBytes(request) <= LONG_BYTES) return run();
    if (this.#underWay >= this.#most) {
      throw new ServiceError("QUEUE_FULL", "Too many requests with long bodies are under way.");
    }
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
    }
  }
}
