import { KEY, Service } from "./service.ts";
import { testWire } from "./wire-cases.ts";

testWire(() => Service.start([], { DECISION_API_KEY: KEY }));
