import { testBodies } from "./bodies-cases.ts";
import { FastService } from "./fast-client.ts";

testBodies(() => FastService.start());
