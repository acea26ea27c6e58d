import { describeFaults } from "./bites.ts";
import { BELONGING_FAULTS } from "./faults-belonging.ts";

describeFaults(
  "an answer, key, text or count that belongs to something else makes its checks fail, and no other:",
  BELONGING_FAULTS,
);
