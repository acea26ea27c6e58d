import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { OPTION_TABLE } from "../../src/options/table.ts";
import { packageRoot } from "../support/package-root.ts";

const file = (name: string) => readFileSync(path.join(packageRoot, name), "utf8");
const { version } = JSON.parse(file("package.json"));

describe("what operators install", () => {
  it("has the package's version: the image's label and the chart's image", () => {
    assert.equal(/image\.version="([^"]+)"/.exec(file("Containerfile"))?.[1], version);
    assert.equal(parse(file("deploy/chart/Chart.yaml")).appVersion, version);
  });

  it("sets options that exist", () => {
    const known: readonly string[] = [
      ...Object.values(OPTION_TABLE).map(({ env }) => env),
      "DECISION_API_KEY",
    ];
    const files = [
      "deploy/chart/values.yaml",
      "deploy/chart/templates/deployment.yaml",
      "docs/deployment.md",
    ];
    for (const name of [...files, "deploy/image/healthcheck.mjs", "Containerfile"]) {
      const named = file(name).match(/DECISION_[A-Z_]+/g) ?? assert.fail(`${name} names no option`);
      for (const option of named) assert.ok(known.includes(option), `${name}: ${option}`);
    }
  });

  it("sets no option by a flag of the image's command, which would win over variables", () => {
    assert.match(file("Containerfile"), /^CMD \["serve"\]$/m);
    assert.match(file("Containerfile"), /DECISION_HOST=0\.0\.0\.0/);
  });

  it("has the same default port in the unit, the image and the chart", () => {
    const port = String(OPTION_TABLE.port.default);
    assert.equal(/SocketBindAllow=tcp:(\d+)/.exec(file("deploy/systemd/decision.service"))?.[1], port);
    assert.equal(/^EXPOSE (\d+)$/m.exec(file("Containerfile"))?.[1], port);
    assert.match(file("deploy/chart/templates/deployment.yaml"), new RegExp(`containerPort: ${port} `));
  });
});
