import type { SentRequest } from "../client/exchange.ts";

/** The server does not keep the clause. The message says what came. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly request: SentRequest | undefined;

  constructor(came: string, request?: SentRequest) {
    super(came);
    this.request = request;
  }
}

/** Whether the server keeps the clause cannot be told. The message says why. */
export class CannotTell extends Error {
  override readonly name = "CannotTell";
}
