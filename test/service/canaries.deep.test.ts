import { describe, it } from "node:test";
import { searchCanaries } from "./canaries.ts";

describe("what a request, a key and a token say is nowhere but in that request's own answer:", () => {
  for (const level of ["silent", "error", "warn", "info"])
    it(`with --log-level ${level}, also when the inference process is killed`, () => searchCanaries(level));
});
