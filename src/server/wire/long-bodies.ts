import { ServiceError } from "../../errors.ts";

/** More than this is long: src/json reads such bodies one after the other. */
export const LONG_BYTES = 65_536;

/**
 * Bounds the requests with long bodies that are under way, from the moment that a body is known to be long to the answer: bodies are
 * read before there is a place in the queue, and a thousand of 2 MiB would be 2 GiB.
 */
export class LongBodies {
  readonly #most: number;
  #underWay = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns what gives the place back. @throws ServiceError QUEUE_FULL */
  take(): () => void {
    if (this.#underWay >= this.#most) {
      throw new ServiceError("QUEUE_FULL", "Too many requests with long bodies are in progress.");
    }
    this.#underWay += 1;
    return () => {
      this.#underWay -= 1;
    };
  }
}
