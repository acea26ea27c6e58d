import { describeFaults } from "./bites.ts";
import { SERVER_FAULTS } from "./faults-server.ts";

describeFaults("a mistake around the answers makes its checks fail, and no other:", SERVER_FAULTS);
