import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { quotedUrl } from "../support/source-url.ts";

/**
 * Sizes of the young generation of a process that begins as bin/decision.js does, in MiB.
 *
 * @param setUp statement that runs once the process is ready
 * @returns     the size then, and after allocations of which a part survives collections
 */
function youngMib(setUp: string): readonly number[] {
  const program = `
    import { setTimeout } from "node:timers/promises";
    import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
    import { setUpServiceHeap } from ${quotedUrl("cli/actions/service-heap")};
    setFlagsFromString("--semi-space-growth-factor=1");
    const mib = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20;
    ${setUp}
    const sizes = [mib()];
    const kept = [];
    for (let turn = 0; turn < 200; turn++) {
      for (let i = 0; i < 10_000; i++) kept[i % 20_000] = [i];
      await setTimeout(1);
    }
    sizes.push(mib());
    console.log(JSON.stringify(sizes));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: packageRoot,
    encoding: "utf8",
  });
  return JSON.parse(output);
}

test("the young generation of a service grows once, when much survives", () => {
  const [ready = 0, loaded = 0] = youngMib("setUpServiceHeap();");
  assert.ok(ready <= 2, `ready: ${ready}`);
  assert.ok(loaded >= 8 && loaded <= 16, `after load: ${loaded}`);
});

test("control: until the service is ready, it keeps its size", () => {
  const [, loaded = 0] = youngMib("");
  assert.ok(loaded <= 2, `${loaded}`);
});
