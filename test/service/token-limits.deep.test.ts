import { Service } from "./service.ts";
import { testTokenLimits } from "./token-limits-cases.ts";

testTokenLimits(() => Service.start());
