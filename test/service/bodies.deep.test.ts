import { testBodies } from "./bodies-cases.ts";
import { Service } from "./service.ts";

testBodies(() => Service.start());
