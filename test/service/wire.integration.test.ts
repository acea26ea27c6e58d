import { FastService } from "./fast-client.ts";
import { KEY } from "./service.ts";
import { testWire } from "./wire-cases.ts";

testWire(() => FastService.start({ apiKey: KEY }));
