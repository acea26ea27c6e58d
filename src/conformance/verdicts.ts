import type { SentRequest } from "./exchange.ts";

/** The server violates the clause. The message says what it did. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly request: SentRequest | undefined;

  constructor(came: string, request?: SentRequest) {
    super(came);
    this.request = request;
  }
}

/** It cannot be decided whether the server satisfies the clause. The message says why. */
export class CannotTell extends Error {
  override readonly name = "CannotTell";
}
