import { FastService } from "./fast-client.ts";
import { testLimits } from "./limits-cases.ts";

testLimits(() => FastService.start(), 2 ** 16);
