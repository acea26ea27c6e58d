import Batch from "./commands/batch.ts";
import Bench from "./commands/bench.ts";
import Completion from "./commands/completion.ts";
import Config from "./commands/config.ts";
import Conformance from "./commands/conformance.ts";
import Decide from "./commands/decide.ts";
import Devices from "./commands/devices.ts";
import Evaluate from "./commands/evaluate.ts";
import Explain from "./commands/explain.ts";
import Help from "./commands/help.ts";
import KeysAdd from "./commands/keys/add.ts";
import KeysList from "./commands/keys/list.ts";
import KeysRevoke from "./commands/keys/revoke.ts";
import Mcp from "./commands/mcp.ts";
import ModelExport from "./commands/model/export.ts";
import ModelImport from "./commands/model/import.ts";
import ModelList from "./commands/model/list.ts";
import ModelPull from "./commands/model/pull.ts";
import ModelRemove from "./commands/model/remove.ts";
import ModelShow from "./commands/model/show.ts";
import ModelVerify from "./commands/model/verify.ts";
import Rank from "./commands/rank.ts";
import Serve from "./commands/serve.ts";
import Tune from "./commands/tune.ts";

/** The commands of `decision` by name. A colon separates topic and command. */
export default {
  serve: Serve,
  config: Config,
  devices: Devices,
  decide: Decide,
  rank: Rank,
  explain: Explain,
  mcp: Mcp,
  batch: Batch,
  evaluate: Evaluate,
  tune: Tune,
  "keys:add": KeysAdd,
  "keys:list": KeysList,
  "keys:revoke": KeysRevoke,
  "model:list": ModelList,
  "model:pull": ModelPull,
  "model:verify": ModelVerify,
  "model:show": ModelShow,
  "model:import": ModelImport,
  "model:export": ModelExport,
  "model:remove": ModelRemove,
  conformance: Conformance,
  bench: Bench,
  completion: Completion,
  help: Help,
};
