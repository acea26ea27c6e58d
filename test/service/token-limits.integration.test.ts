import { FastService } from "./fast-client.ts";
import { testTokenLimits } from "./token-limits-cases.ts";

testTokenLimits(() => FastService.start());
