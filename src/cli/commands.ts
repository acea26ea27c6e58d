import Bench from "./commands/bench.ts";
import Conformance from "./commands/conformance.ts";
import Decide from "./commands/decide.ts";
import Rank from "./commands/rank.ts";
import Serve from "./commands/serve.ts";

/** The commands of `decision`, by name. */
export default { serve: Serve, decide: Decide, rank: Rank, conformance: Conformance, bench: Bench };
