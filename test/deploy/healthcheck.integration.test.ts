import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../support/package-root.ts";

const program = path.join(packageRoot, "deploy/image/healthcheck.mjs");
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

/** The exit code of the image's health check beside a service that listens there and answers so. */
async function codeFor(host: string, status: number, env: Record<string, string>): Promise<unknown> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const child = spawn(process.execPath, [program], { env: { DECISION_PORT: String(address.port), ...env } });
  const [code] = await once(child, "exit");
  server.closeAllConnections();
  server.close();
  return code;
}

describe("the health check of the image", () => {
  for (const [listens, host] of [
    ["127.0.0.1", undefined],
    ["127.0.0.1", ""],
    ["0.0.0.0", "0.0.0.0"],
    ["127.0.0.1", "127.0.0.1"],
    ["::", "::"],
    ["::1", "::1"],
  ] as const)
    it(`asks a service on ${host ?? "no address"}`, { skip: listens.includes(":") && !hasIpv6 }, async () => {
      const env: Record<string, string> = host === undefined ? {} : { DECISION_HOST: host };
      assert.equal(await codeFor(listens, 200, env), 0);
      assert.equal(await codeFor(listens, 503, env), 1);
    });
});
