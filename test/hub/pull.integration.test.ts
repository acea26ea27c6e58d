import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { REPOSITORY, REVISION, TunnelProxy } from "./hub-server.ts";
import { PullSetup } from "./pull-setup.ts";

const failed = (message: RegExp) => ({ name: "ServiceError", kind: "PULL_FAILED", message });
const WEIGHTS = "model.safetensors";

let setup: PullSetup;
beforeEach(async () => {
  setup = await PullSetup.create();
});
afterEach(() => setup.remove());

async function assertComplete(): Promise<void> {
  assert.deepEqual(await setup.contents(), new Map([...setup.files].sort()));
  assert.deepEqual(await setup.manifest(), setup.model.manifest);
  assert.deepEqual(await readdir(path.dirname(setup.folder)), [REVISION], "nothing is left over");
}

/** The incomplete weights. */
const partial = () => path.join(setup.folder, `${WEIGHTS}.partial`);

/** Whether the folder looks like a package. */
async function looksComplete(): Promise<boolean> {
  return readFile(path.join(setup.folder, "manifest.json")).then(
    () => true,
    () => false,
  );
}

describe("a pull", () => {
  it("brings every file of the pinned commit, with its progress", async () => {
    const pulled = await setup.pull();
    await assertComplete();
    assert.deepEqual(pulled.folder, setup.folder);
    assert.ok(pulled.files.every(({ source }) => source === "hub"));
    const total = setup.files.get("tokenizer.json")?.length;
    assert.deepEqual(setup.progress.at(-1), { file: "tokenizer.json", bytes: total, totalBytes: total });
    const paths = setup.hub.seen.filter(({ at }) => at === "hub").map((seen) => seen.path);
    assert.ok(
      paths.every((asked) => asked.includes(REVISION)),
      "asks for the commit and for nothing else",
    );
    assert.deepEqual(setup.notes, []);
  });

  it("of what is there as a whole writes nothing", async () => {
    await setup.pull();
    const before = await stat(setup.folder);
    const { files } = await setup.pull();
    assert.deepEqual(
      files,
      [...setup.files].map(([name, { length }]) => ({ name, bytes: length, source: "present" })),
    );
    assert.equal((await stat(setup.folder)).mtimeMs, before.mtimeMs);
  });

  it("of what is there without its manifest writes that again", async () => {
    await setup.pull();
    await rm(path.join(setup.folder, "manifest.json"));
    const { files } = await setup.pull();
    assert.ok(files.every(({ source }) => source === "present"));
    await assertComplete();
  });

  it("replaces a file that was changed, and only that", async () => {
    await setup.pull();
    await writeFile(path.join(setup.folder, "config.json"), "{}");
    const { files } = await setup.pull();
    assert.deepEqual(
      files.filter(({ source }) => source === "hub").map(({ name }) => name),
      ["config.json"],
    );
    await assertComplete();
  });

  it("needs no sizes from a mirror", async () => {
    setup.hub.tellsSizes = false;
    await setup.pull();
    await assertComplete();
    assert.ok(setup.progress.every(({ totalBytes }) => totalBytes === undefined));
  });

  it("takes what the hub's own tools have in their cache, after a look at its digest", async () => {
    const cache = path.join(setup.home, ".cache/huggingface/hub/models--acme--Tiny");
    const snapshot = path.join(cache, "snapshots", REVISION);
    await mkdir(snapshot, { recursive: true });
    await mkdir(path.join(cache, "blobs"));
    await writeFile(path.join(cache, "blobs/a"), setup.files.get(WEIGHTS) ?? "");
    await symlink("../../blobs/a", path.join(snapshot, WEIGHTS));
    await writeFile(path.join(snapshot, "config.json"), "tampered");
    const { files } = await setup.pull();
    assert.equal(files.find(({ name }) => name === WEIGHTS)?.source, "cache");
    assert.deepEqual(setup.hub.fetches(WEIGHTS), []);
    assert.match(setup.notes.join(), /config\.json differs from the published file: not used/);
    await assertComplete();
  });

  it("asks the hub for what the cache has and what cannot be read, or lies outside the cache", async (t) => {
    const outside = "/proc/self/mem";
    if (!existsSync(outside)) return t.skip("no /proc");
    const cache = path.join(setup.home, ".cache/huggingface/hub/models--acme--Tiny");
    const snapshot = path.join(cache, "snapshots", REVISION);
    await mkdir(path.join(snapshot, "tokenizer.json"), { recursive: true });
    await symlink(outside, path.join(snapshot, WEIGHTS));
    await symlink("config.json", path.join(snapshot, "config.json"));
    const { files } = await setup.pull();
    assert.ok(files.every(({ source }) => source === "hub"));
    for (const says of [
      /model\.safetensors is a link out of the folder, to \/proc\/\d+\/mem: not used/,
      /config\.json cannot be read \(ELOOP\): not used/,
      /tokenizer\.json is not a regular file: not used/,
    ])
      assert.match(setup.notes.join("\n"), says);
    assert.equal(setup.notes.length, 3);
    await assertComplete();
  });

  it("is content with the cache alone where connections are forbidden", async () => {
    const snapshot = path.join(setup.home, "hub/models--acme--Tiny/snapshots", REVISION);
    await mkdir(snapshot, { recursive: true });
    for (const [name, content] of setup.files) await writeFile(path.join(snapshot, name), content);
    await setup.pull({ HF_HUB_CACHE: "~/hub", HF_HUB_OFFLINE: "1" });
    await assertComplete();
    assert.deepEqual(setup.hub.seen, []);
  });

  for (const { name, env, options } of [
    { name: "HF_HUB_OFFLINE", env: { HF_HUB_OFFLINE: "YES" }, options: {} },
    { name: "--offline", env: {}, options: { offlineBy: "--offline" } },
  ]) {
    it(`opens no connection with ${name}, and says what is missing`, async () => {
      await assert.rejects(setup.pull(env, options), failed(new RegExp(`config\\.json, .*${name} forbids`)));
      assert.deepEqual(setup.hub.seen, []);
      await assert.rejects(readdir(path.dirname(setup.folder)), "and nothing is left behind");
    });
  }
});

describe("a broken pull", () => {
  it("goes on where the connection broke, as often as it takes", async () => {
    setup.hub.trouble.breakAfter.push(100_000, 50_000, 60_000);
    await setup.pull();
    await assertComplete();
    const ranges = setup.hub.fetches(WEIGHTS).map(({ range }) => range);
    assert.deepEqual(ranges, [undefined, "bytes=100000-", "bytes=150000-", "bytes=210000-"]);
    assert.deepEqual(setup.waits, [1000, 1000, 1000], "each brought something");
    assert.match(
      setup.notes[0] ?? "",
      /^model\.safetensors: the connection .* was lost .*; retrying in 1 s$/,
    );
  });

  it("starts again if the content has changed", async () => {
    setup.hub.trouble.breakAfter.push(100_000);
    const other = Buffer.alloc(300_000, 7);
    setup.hub.swapped.set(WEIGHTS, other);
    await setup.pull({}, { wait: async () => void setup.hub.swapped.clear() });
    await assertComplete();
    assert.match(setup.notes.join(), /differs from the published file; fetching it again/);
  });

  it("starts again if the server does not support ranges", async () => {
    setup.hub.knowsRanges = false;
    setup.hub.trouble.breakAfter.push(100_000, 200_000);
    await setup.pull();
    await assertComplete();
  });

  it("is gone on from by the next one", async () => {
    setup.hub.trouble.breakAfter.push(100_000, 0, 0, 0);
    await assert.rejects(
      setup.pull(),
      failed(/model\.safetensors could not be fetched: .* Tried 4 times\. .* the next pull resumes/),
    );
    assert.equal(await looksComplete(), false);
    setup.hub.trouble.breakAfter.length = 0;
    setup.hub.seen.length = 0;
    await setup.pull();
    await assertComplete();
    const [rest, ...others] = setup.hub.fetches(WEIGHTS);
    assert.equal(rest?.range, "bytes=100000-");
    assert.deepEqual(others, []);
    assert.deepEqual(setup.hub.fetches("config.json"), [], "what was checked is not fetched again");
  });

  it("starts again if the partial file belongs to something else", async () => {
    await mkdir(setup.folder, { recursive: true });
    await writeFile(partial(), Buffer.alloc(1000));
    await setup.pull();
    await assertComplete();
    assert.match(setup.notes.join(), /differs from the published file; fetching it again/);
  });

  for (const { name, bytes } of [
    { name: "all of it", bytes: 300_000 },
    { name: "more than there is", bytes: 300_001 },
  ]) {
    it(`begins anew when what was left over is ${name} and wrong`, async () => {
      for (const tells of [true, false]) {
        setup.hub.tellsSizes = tells;
        await rm(setup.folder, { recursive: true, force: true });
        await mkdir(setup.folder, { recursive: true });
        await writeFile(partial(), Buffer.alloc(bytes));
        await setup.pull();
        await assertComplete();
      }
    });
  }

  it("gives up on a server that stops sending, and continues", async () => {
    setup.hub.trouble.stallAfter.push(100_000);
    await setup.pull({ HF_HUB_DOWNLOAD_TIMEOUT: "1" });
    await assertComplete();
    assert.match(setup.notes.join(), /UND_ERR_BODY_TIMEOUT/);
  });

  it("waits longer each time, and as long as a server asks", async () => {
    setup.hub.trouble.hub.push(
      { status: 500 },
      { status: 502 },
      { status: 429, headers: { "retry-after": "7" } },
    );
    await setup.pull();
    await assertComplete();
    assert.deepEqual(setup.waits, [1000, 2000, 7000]);
  });

  it("asks the hub for a new address when the content host refuses the old one", async () => {
    setup.hub.trouble.cdn.push({ status: 403 });
    await setup.pull();
    await assertComplete();
    const { path: asked = "" } = setup.hub.seen.find(({ at }) => at === "cdn") ?? {};
    assert.match(asked, /joint_head/);
  });

  it("ends when it is told to, and keeps what it has", async () => {
    setup.hub.trouble.stallAfter.push(100_000);
    const stop = new AbortController();
    const reason = new Error("enough");
    const onProgress = ({ bytes }: { bytes: number }) => {
      if (bytes === 100_000) stop.abort(reason);
    };
    await assert.rejects(
      setup.pull({ HF_HUB_DOWNLOAD_TIMEOUT: "1" }, { signal: stop.signal, onProgress }),
      reason,
    );
    assert.equal(await looksComplete(), false);
    assert.equal((await readFile(partial())).length, 100_000);
  });
});

describe("a pull that cannot be", () => {
  const cases: readonly (readonly [string, () => void, RegExp, Record<string, string>?])[] = [
    [
      "of a model for which one must log in",
      () => {
        setup.hub.token = "hf_right";
      },
      /401: Access to model acme\/Tiny is restricted.*accept the model's terms.*\/settings\/tokens.*HF_TOKEN/,
    ],
    [
      "with a token that is not known",
      () => {
        setup.hub.token = "hf_right";
      },
      /refuses the token \(401: Invalid credentials/,
      { HF_TOKEN: "hf_wrong" },
    ],
    [
      "of a model whose terms are not accepted",
      () => {
        setup.hub.token = "hf_right";
        setup.hub.isGated = true;
      },
      /403: .*Accept them at http:\/\/127\.0\.0\.1:\d+\/acme\/Tiny with the account/,
      { HF_TOKEN: "hf_right" },
    ],
    [
      "from a host that is busy for an hour",
      () => setup.hub.trouble.hub.push({ status: 429, headers: { "retry-after": "3600" } }),
      /request rate \(429\)\. It asks to try again in 60 minutes/,
    ],
    [
      "from a host that is broken",
      () => setup.hub.trouble.hub.push(...Array.from({ length: 4 }, () => ({ status: 503 }))),
      /has a temporary failure \(503\).*Tried 4 times/,
    ],
    [
      "from a host that sends from address to address",
      () =>
        setup.hub.trouble.hub.push(
          ...Array.from({ length: 11 }, () => ({ status: 302, headers: { location: "/x" } })),
        ),
      /answered 302 for config\.json/,
    ],
    [
      "from a port where nobody listens",
      () => {},
      /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/,
      { HF_ENDPOINT: "http://127.0.0.1:1" },
    ],
    ["from a host that speaks no TLS", () => {}, /certificate|EPROTO|ERR_SSL/, { HF_ENDPOINT: "https-own" }],
  ];
  for (const [name, change, says, env] of cases) {
    it(`${name} says so`, async () => {
      change();
      const given =
        env?.HF_ENDPOINT === "https-own"
          ? { HF_ENDPOINT: setup.hub.endpoint.replace("http:", "https:") }
          : env;
      await assert.rejects(setup.pull(given), failed(says));
      assert.equal(await looksComplete(), false);
    });
  }

  it("of a file that is not there says which", async () => {
    const { manifest } = setup.model;
    const files = { ...manifest.files, "tokenizer_config.json": "0".repeat(64) };
    const model = { ...setup.model, manifest: { ...manifest, files } };
    await assert.rejects(
      setup.pull({}, {}, model),
      failed(/no file tokenizer_config\.json in revision 0123/),
    );
  });

  it("of a repository or a commit that is not there says which", async () => {
    for (const [origin, says] of [
      [{ repository: "acme/Other", revision: REVISION }, /has no model acme\/Other/],
      [{ repository: REPOSITORY, revision: "f".repeat(40) }, /has no revision f{40}/],
    ] as const) {
      const model = { ...setup.model, manifest: { ...setup.model.manifest, origin } };
      await assert.rejects(setup.pull({}, {}, model), failed(says));
    }
  });

  it("of content that is not the published one ends, and keeps none of it", async () => {
    setup.hub.swapped.set(WEIGHTS, Buffer.alloc(300_000));
    await assert.rejects(
      setup.pull(),
      failed(/model\.safetensors was received twice with the wrong content/),
    );
    assert.equal(await looksComplete(), false);
    assert.ok(!(await readdir(setup.folder)).includes(WEIGHTS));
    assert.equal(setup.hub.fetches(WEIGHTS).length, 2);
  });

  it("of more content than it may have ends, announced or not", async () => {
    const model = { ...setup.model, maxFileBytes: 200_000 };
    await assert.rejects(setup.pull({}, {}, model), failed(/has 300000 bytes; the maximum is 200000/));
    setup.hub.tellsSizes = false;
    await assert.rejects(setup.pull({}, {}, model), failed(/has more bytes than the allowed 200000/));
  });

  it("onto a disk that cannot be written says so", async () => {
    await mkdir(path.dirname(setup.store), { recursive: true });
    await writeFile(setup.store, "");
    await assert.rejects(setup.pull(), failed(/cannot be written \((ENOTDIR|EEXIST)\)/));
    await assert.rejects(setup.pull({}, { store: "/proc/nothing" }), failed(/cannot be written \(\w+\)/));
  });
});

describe("the token", () => {
  beforeEach(() => {
    setup.hub.token = "hf_secret";
  });

  it("goes to the hub and to no other host", async () => {
    await setup.pull({ HF_TOKEN: "hf_secret" });
    await assertComplete();
    for (const { at, authorization } of setup.hub.seen)
      assert.equal(authorization, at === "hub" ? "Bearer hf_secret" : undefined);
    assert.ok(setup.hub.seen.some(({ at }) => at === "cdn"));
  });

  it("is that of the hub's own tools", async () => {
    await mkdir(path.join(setup.home, ".cache/huggingface"), { recursive: true });
    await writeFile(path.join(setup.home, ".cache/huggingface/token"), "hf_secret\n");
    await setup.pull();
    await assertComplete();
  });

  it("is in no message", async () => {
    setup.hub.isGated = true;
    await assert.rejects(
      setup.pull({ HF_TOKEN: "hf_secret" }),
      (error: Error) => !error.message.includes("hf_secret"),
    );
  });
});

describe("a proxy", () => {
  let proxy: TunnelProxy;
  beforeEach(async () => {
    proxy = await TunnelProxy.start();
  });
  afterEach(() => proxy.stop());

  it("is used for both hosts, with its user and password", async () => {
    proxy.credentials = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    const warned = once(process, "warning", { signal: AbortSignal.timeout(10) }).catch(() => undefined);
    await setup.pull({ HTTP_PROXY: proxy.url.replace("//", "//me:p%40ss@") });
    await assertComplete();
    const authorities = new Set(proxy.seen.map(({ authority }) => authority));
    assert.deepEqual(authorities, new Set([new URL(setup.hub.endpoint).host, setup.hub.cdnHost]));
    assert.equal(await warned, undefined);
  });

  it("is not used for the hosts of NO_PROXY", async () => {
    await setup.pull({ HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" });
    assert.deepEqual(proxy.seen, []);
  });

  it("that wants a password says so", async () => {
    proxy.credentials = "Basic x";
    await assert.rejects(
      setup.pull({ HTTP_PROXY: proxy.url }),
      failed(/the proxy requires a user and a password/),
    );
  });
});

describe("a host whose certificate nobody trusts", () => {
  it("is told, with what helps behind a proxy that opens TLS", async (t) => {
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => path.join(setup.home, name));
    const made = spawnSync("openssl", [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"],
      ...["-keyout", String(key), "-out", String(cert)],
    ]);
    if (made.status !== 0) return t.skip("no openssl to make a certificate with");
    const server = createServer({ key: await readFile(String(key)), cert: await readFile(String(cert)) });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      const says = failed(
        /certificate of 127\.0\.0\.1:\d+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
      );
      await assert.rejects(setup.pull({ HF_ENDPOINT: `https://127.0.0.1:${port}` }), says);
    } finally {
      server.close();
    }
  });
});
