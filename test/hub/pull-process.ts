/** A pull in a process of its own, to be killed: `pull-process.ts <endpoint> <home> <weight bytes>`. */
import path from "node:path";
import { waitFor } from "../../src/hub/patience.ts";
import { pullModel } from "../../src/hub/pull.ts";
import { readHubSettings } from "../../src/hub/settings.ts";
import { tinyFiles, tinyModel } from "./tiny-model.ts";

const [endpoint = "", home = "", weightBytes = ""] = process.argv.slice(2);
await pullModel(tinyModel(tinyFiles(Number(weightBytes))), {
  store: path.join(home, "store"),
  settings: await readHubSettings({ HF_ENDPOINT: endpoint }, home),
  attempts: 4,
  wait: waitFor,
  note: (text) => console.log(text),
  onProgress: ({ file, bytes }) => console.log(`${file} ${bytes}`),
  signal: new AbortController().signal,
});
console.log("done");
