import { describeFaults } from "./bites.ts";
import { REQUEST_FAULTS } from "./faults-requests.ts";

describeFaults("a mistake in what a request may be makes its checks fail, and no other:", REQUEST_FAULTS);
