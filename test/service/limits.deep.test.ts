import { MAX_BODY, testLimits } from "./limits-cases.ts";
import { Service } from "./service.ts";

testLimits(() => Service.start(), { hostileBytes: MAX_BODY, slowestMs: 2000 });
