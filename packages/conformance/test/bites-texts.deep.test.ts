import { describeFaults } from "./bites.ts";
import { LIMIT_FAULTS } from "./faults-limits.ts";
import { TEXT_FAULTS } from "./faults-texts.ts";

describeFaults("each fault of texts is caught", TEXT_FAULTS);
describeFaults("each fault of limits is caught", LIMIT_FAULTS);
