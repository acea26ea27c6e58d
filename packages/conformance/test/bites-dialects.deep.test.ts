import { describeFaults } from "./bites.ts";
import { RERANK_FAULTS } from "./faults-rerank.ts";
import { TYPESAFE_FAULTS } from "./faults-typesafe.ts";

describeFaults("each fault of the profile typesafe is caught", TYPESAFE_FAULTS, "typesafe");
describeFaults("each fault of the profile rerank is caught", RERANK_FAULTS, "rerank");
