import { MAX_BODY, testLimits } from "./limits-cases.ts";
import { Service } from "./service.ts";

testLimits(() => Service.start(), MAX_BODY);
