import { describeFaults } from "./bites.ts";
import { EXCHANGED_FAULTS } from "./faults-exchanged.ts";
import { RANKING_FAULTS } from "./faults-ranking.ts";
import { SCORE_FAULTS } from "./faults-scores.ts";
import { USAGE_FAULTS } from "./faults-usage.ts";

describeFaults("each fault of exchanged answers is caught", EXCHANGED_FAULTS);
describeFaults("each fault of scores is caught", SCORE_FAULTS);
describeFaults("each fault of usage is caught", USAGE_FAULTS);
describeFaults("each fault of rankings and ties is caught", RANKING_FAULTS);
