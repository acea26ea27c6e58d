import { describeFaults } from "./bites.ts";
import { ANSWER_FAULTS } from "./faults-answers.ts";

describeFaults("a mistake in what an answer holds makes its checks fail, and no other:", ANSWER_FAULTS);
