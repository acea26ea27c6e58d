import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { readHubSettings } from "../../src/hub/settings.ts";

const invalid = (message: RegExp) => ({ name: "ServiceError", kind: "INVALID_OPTION", message });

let home: string;
before(async () => {
  home = await mkdtemp(path.join(tmpdir(), "hub-home-"));
});
after(() => rm(home, { recursive: true }));

describe("the hub's variables", () => {
  it("have the defaults of the hub's own tools", async () => {
    assert.deepEqual(await readHubSettings({}, home), {
      endpoint: "https://huggingface.co",
      token: undefined,
      cache: path.join(home, ".cache/huggingface/hub"),
      offlineBy: undefined,
      stallMs: 30_000,
      proxies: { http: "", https: "", none: "" },
    });
  });

  const caches: { name: string; env: Record<string, string>; wants: string }[] = [
    { name: "HF_HUB_CACHE", env: { HF_HUB_CACHE: "/c", HF_HOME: "/h" }, wants: "/c" },
    { name: "HUGGINGFACE_HUB_CACHE", env: { HUGGINGFACE_HUB_CACHE: "/old", HF_HOME: "/h" }, wants: "/old" },
    { name: "HF_HOME", env: { HF_HOME: "/h", XDG_CACHE_HOME: "/x" }, wants: "/h/hub" },
    { name: "XDG_CACHE_HOME", env: { XDG_CACHE_HOME: "/x" }, wants: "/x/huggingface/hub" },
  ];
  for (const { name, env, wants } of caches) {
    it(`name the cache by ${name}`, async () => {
      assert.equal((await readHubSettings(env, home)).cache, wants);
    });
  }

  it("may begin with the home folder", async () => {
    assert.equal((await readHubSettings({ HF_HOME: "~/hf" }, home)).cache, path.join(home, "hf/hub"));
  });

  it("take a mirror, with or without a slash at its end", async () => {
    for (const mirror of ["https://mirror.example/hub", "https://mirror.example/hub/"])
      assert.equal(
        (await readHubSettings({ HF_ENDPOINT: mirror }, home)).endpoint,
        "https://mirror.example/hub",
      );
  });

  it("give the token, else its file does, unless it is not to be sent", async () => {
    const file = path.join(home, "my-token");
    await writeFile(file, "hf_file\n");
    const env = { HF_TOKEN_PATH: file };
    assert.equal((await readHubSettings(env, home)).token, "hf_file");
    assert.equal((await readHubSettings({ ...env, HF_TOKEN: " hf_own\n" }, home)).token, "hf_own");
    assert.equal(
      (await readHubSettings({ ...env, HF_HUB_DISABLE_IMPLICIT_TOKEN: "1" }, home)).token,
      undefined,
    );
    assert.equal((await readHubSettings({ HF_HOME: home }, home)).token, undefined);
  });

  it("prefer the proxies in small letters, as the hub's own tools do", async () => {
    const env = {
      http_proxy: "http://a:1",
      HTTP_PROXY: "http://b:1",
      HTTPS_PROXY: "http://c:1",
      no_proxy: "x",
    };
    const { proxies } = await readHubSettings(env, home);
    assert.deepEqual(proxies, { http: "http://a:1/", https: "http://c:1/", none: "x" });
  });

  for (const [name, value] of [
    ["HF_ENDPOINT", "huggingface.co"],
    ["HF_ENDPOINT", "ftp://huggingface.co"],
    ["HF_ENDPOINT", "https://user:secret@huggingface.co"],
    ["HTTPS_PROXY", "secret:3128"],
    ["HF_HUB_DOWNLOAD_TIMEOUT", "soon"],
    ["HF_HUB_DOWNLOAD_TIMEOUT", "0"],
    ["HF_TOKEN", "hf_a secret"],
    ["HF_TOKEN", "hf_sécret"],
  ] as const) {
    it(`cannot be ${name}=${value}`, async () => {
      const says = invalid(new RegExp(name));
      await assert.rejects(readHubSettings({ [name]: value }, home), (error: Error) => {
        assert.doesNotMatch(error.message, /s[eé]cret/, "a secret is not shown");
        assert.match(error.message, says.message);
        return true;
      });
    });
  }
});
