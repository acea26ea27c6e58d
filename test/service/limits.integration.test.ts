import { FastService } from "./fast-client.ts";
import { testLimits } from "./limits-cases.ts";

testLimits(() => FastService.start(), { hostileBytes: 2 ** 16, slowestMs: Number.POSITIVE_INFINITY });
