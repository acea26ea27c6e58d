import { describeFaults } from "./bites.ts";
import { LONE_FAULTS } from "./faults-alone.ts";
import { COUNTER_FAULTS } from "./faults-counters.ts";
import { DOCUMENT_FAULTS } from "./faults-document.ts";
import { REPLY_FAULTS, ROUTE_FAULTS } from "./faults-http.ts";
import { KEY_FAULTS } from "./faults-keys.ts";

describeFaults("each fault of keys is caught", KEY_FAULTS);
describeFaults("each fault of routes and media types is caught", ROUTE_FAULTS);
describeFaults("each fault of headers and error bodies is caught", REPLY_FAULTS);
describeFaults("each fault of the served document is caught", DOCUMENT_FAULTS);
describeFaults("each fault of counters is caught", COUNTER_FAULTS);
describeFaults("each fault that leaves nothing else to check is caught", LONE_FAULTS);
