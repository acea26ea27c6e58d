import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import { connectDecider, ServiceError } from "../src/library/index.ts";
import { reasonOf, serviceAddress, socketUrl } from "../src/service-address.ts";
import { packageRoot } from "./support/package-root.ts";

const ASKED = { state: "s", candidates: ["a", "b"] };

describe("the address of a service", () => {
  it("is a URL, with a path prefix if it has one", () => {
    assert.deepEqual(serviceAddress("https://a.example/base//"), {
      name: "https://a.example/base",
      origin: "https://a.example",
      prefix: "/base",
    });
  });

  for (const socketPath of ["/tmp/d.sock", "/tmp/a b/%41?x=1#é.sock"])
    it(`is that of the socket ${socketPath}`, () => {
      for (const scheme of ["http", "https"] as const) {
        const url = socketUrl(scheme, socketPath);
        assert.deepEqual(serviceAddress(url), {
          name: url,
          origin: `${scheme}://localhost`,
          prefix: "",
          socketPath,
        });
      }
    });

  for (const text of [
    "",
    "localhost:8700",
    "ftp://x",
    "/tmp/d.sock",
    "unix:///tmp/d.sock",
    "http+unix://",
    "http+unix:///",
    "http+unix://tmp/d.sock",
    "http+unix:///tmp/%E0.sock",
    "http://x?key=secret",
    "http://x#secret",
    "http://me:secret@x",
    "http://:secret@x",
  ])
    it(`is not ${JSON.stringify(text)}`, () => {
      assert.throws(
        () => connectDecider(text),
        (error: unknown) => {
          assert.ok(error instanceof ServiceError && error.kind === "INVALID_OPTION");
          assert.match(error.message, /expected an address like http:.* or http\+unix:.*, got "/);
          return !error.message.includes("secret");
        },
      );
    });
});

describe("why a service does not answer", () => {
  it("is told with the variable for its certificate, where the authority is unknown", async () => {
    const [cert, key] = await Promise.all(
      ["crt", "key"].map((end) => readFile(path.join(packageRoot, `test/support/tls/loopback.${end}`))),
    );
    assert.ok(cert && key);
    const server = createServer({ cert, key }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // it listens on TCP
    try {
      await using decider = connectDecider(`https://127.0.0.1:${port}`);
      await assert.rejects(decider.rank(ASKED), {
        kind: "UNREACHABLE",
        // Node.js 24 adds a hint of its own
        message: new RegExp(
          `^the service at https://127\\.0\\.0\\.1:${port} does not answer: self-signed certificate.*\\. ` +
            "If its certificate is your own, set NODE_EXTRA_CA_CERTS to a file with the authority's certificate\\.$",
        ),
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  for (const code of [
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ])
    it(`names it for ${code}, and not for an expired certificate`, () => {
      const failed = (code: string) =>
        new TypeError("fetch failed", { cause: Object.assign(new Error("m"), { code }) });
      assert.match(reasonOf(failed(code)), /^m\. .*NODE_EXTRA_CA_CERTS/);
      assert.equal(reasonOf(failed("CERT_HAS_EXPIRED")), "m");
    });
});
