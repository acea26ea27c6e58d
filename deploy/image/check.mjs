// Builds the image by Buildah, starts it, asks it and stops it: `npm run check:image`. Needs root, buildah and, unless
// NODE_IMAGE names an image with Node.js and npm that can be pulled, mmdebstrap: then a base is made from Debian's and
// npm's packages. Options by variable: NODE_IMAGE, BASE_TAR (a root file system of Debian, instead of making one),
// KEEP=1 (keep the image).
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = path.join(import.meta.dirname, "../..");
const NODE = "22.23.3";
const LARGEST_MB = 350;
const IMAGE = "localhost/decision:check";
const LOCAL_BASE = "localhost/decision-node-base:check";
const KEY = "a key for the check";
const folder = mkdtempSync(path.join(tmpdir(), "check-image-"));
const containers = [];
const began = Date.now();

const quiet = (command, ...args) => execFileSync(command, args, { encoding: "utf8", cwd: root }).trim();
const loud = (command, ...args) => execFileSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
const say = (text) =>
  console.log(`${String(Math.round((Date.now() - began) / 1000)).padStart(4)} s  ${text}`);

try {
  const base = process.env.NODE_IMAGE ?? makeBase();
  build(base);
  const container = from(IMAGE);
  const mount = quiet("buildah", "mount", container);
  checkFiles(mount);
  await checkService(container, mount);
  say("the image builds, starts, answers, writes nothing and stops");
} finally {
  for (const container of containers) spawnSync("buildah", ["rm", container]);
  if (process.env.KEEP !== "1") spawnSync("buildah", ["rmi", "--force", IMAGE, LOCAL_BASE]);
  rmSync(folder, { recursive: true });
}

function from(image) {
  const container = quiet("buildah", "from", "--pull-never", image);
  containers.push(container);
  return container;
}

/** Debian with Node.js and npm, as the official image has them. */
function makeBase() {
  const tar = process.env.BASE_TAR ?? path.join(folder, "debian.tar");
  if (process.env.BASE_TAR === undefined) {
    const without = ["man", "doc", "locale"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    const kept = "--dpkgopt=path-include=/usr/share/doc/*/copyright";
    loud(
      "mmdebstrap",
      "--quiet",
      "--variant=minbase",
      "--include=libstdc++6",
      ...without,
      kept,
      "bookworm",
      tar,
    );
    say("a Debian base");
  }
  const name = `node-linux-${process.arch}`;
  loud("npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${NODE}`);
  const container = from("scratch");
  const npm = path.join(quiet("npm", "root", "--global"), "npm");
  loud("buildah", "add", "--quiet", container, tar, "/");
  for (const file of ["bin/node", "LICENSE"]) {
    loud(
      "buildah",
      "add",
      "--quiet",
      container,
      path.join(folder, "node_modules", name, file),
      `/usr/local/${file}`,
    );
  }
  loud("buildah", "add", "--quiet", container, npm, "/usr/local/lib/node_modules/npm");
  const link = (to, at) =>
    loud("buildah", "run", "--isolation", "chroot", container, "--", "ln", "-s", to, at);
  link("../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm");
  loud("buildah", "commit", "--quiet", "--rm", container, LOCAL_BASE);
  say(`a base with Node.js ${NODE}`);
  return LOCAL_BASE;
}

/** Builds with this machine's npm configuration and certificates, mounted, so that they are in no layer. */
function build(base) {
  const mounts = [
    [path.join(homedir(), ".npmrc"), "/root/.npmrc"],
    [quiet("npm", "config", "get", "globalconfig"), "/usr/local/etc/npmrc"],
    ["/etc/ssl/certs", "/etc/ssl/certs"],
  ].filter(([file]) => existsSync(file));
  const volumes = mounts.flatMap(([file, at]) => ["--volume", `${file}:${at}:ro`]);
  const where = ["--isolation", "chroot", "--network", "host", "--pull-never", "--format", "docker"];
  const args = ["--build-arg", `NODE_IMAGE=${base}`, "--build-arg", `REVISION=${revision()}`, "--tag", IMAGE];
  if (!base.startsWith("localhost/")) where.splice(where.indexOf("--pull-never"), 1);
  loud("buildah", "bud", "--quiet", ...where, ...volumes, ...args, ".");
  say("the image");
}

function revision() {
  const { status, stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "unknown";
}

function checkFiles(mount) {
  const megabytes = Number(
    quiet("du", "--summarize", "--apparent-size", "--block-size=1000000", mount).split(/\s/)[0],
  );
  const onDisk = Number(quiet("du", "--summarize", "--block-size=1000000", mount).split(/\s/)[0]);
  say(`${onDisk} MB on disk (${megabytes} MB of bytes), at most ${LARGEST_MB}`);
  assert.ok(onDisk <= LARGEST_MB, `the image has ${onDisk} MB`);
  for (const program of ["sh", "bash", "apt", "dpkg", "npm", "perl", "cc"]) {
    const found = quiet(
      "find",
      mount,
      "-xdev",
      "(",
      "-type",
      "f",
      "-o",
      "-type",
      "l",
      ")",
      "-name",
      program,
      "-path",
      "*bin/*",
    );
    assert.equal(found, "", `${program} is in the image`);
  }
  const open = quiet("find", mount, "-xdev", "-perm", "/022", "-not", "-type", "l", "-printf", "/%P\n");
  assert.equal(open, "/tmp", "only /tmp can be written by others");
  const closed = quiet(
    "find",
    mount,
    "-mindepth",
    "1",
    "-xdev",
    "-not",
    "-type",
    "l",
    "-not",
    "-perm",
    "-004",
  );
  assert.equal(closed, "", "files that the service's user cannot read");
  const { config } = JSON.parse(quiet("buildah", "inspect", "--type", "image", IMAGE)).Docker;
  assert.equal(config.User, "10001:10001");
  assert.equal(config.Healthcheck?.Test[0], "CMD");
  // no options as flags, which would win over variables
  assert.deepEqual(config.Cmd, ["serve"]);
  assert.ok(config.Env.includes("DECISION_HOST=0.0.0.0"));
  assert.match(config.Labels["org.opencontainers.image.revision"], /./);
  const { version } = JSON.parse(
    quiet("npm", "pkg", "get", "version", "--json", "--workspaces=false").replace(
      /^"?(.*?)"?$/,
      '{"version":"$1"}',
    ),
  );
  assert.equal(config.Labels["org.opencontainers.image.version"], version);
  const sbom = JSON.parse(quiet("cat", path.join(mount, "app/sbom.cdx.json")));
  assert.equal(sbom.bomFormat, "CycloneDX");
  say(`user, labels, health check; ${sbom.components.length} components in the list`);
}

async function checkService(container, mount) {
  const port = await freePort();
  const mark = path.join(folder, "mark");
  writeFileSync(mark, "");
  await sleep(20); // the file system's clock
  const { Entrypoint, Cmd } = JSON.parse(quiet("buildah", "inspect", "--type", "image", IMAGE)).Docker.config;
  const env = ["--env", `DECISION_API_KEY=${KEY}`, "--env", `DECISION_PORT=${port}`];
  const run = ["run", "--isolation", "chroot", "--network", "host"];
  const service = spawn("buildah", [...run, ...env, container, "--", ...Entrypoint, ...Cmd], {
    stdio: "inherit",
  });
  const ended = new Promise((resolve) => service.once("exit", (code, signal) => resolve(code ?? signal)));
  const started = Date.now();
  try {
    const url = `http://127.0.0.1:${port}`;
    const isReady = () =>
      fetch(`${url}/ready`).then(
        (r) => r.ok,
        () => false,
      );
    while (!(await isReady())) {
      assert.ok(
        service.exitCode === null && Date.now() - started < 60_000,
        "the service does not become ready",
      );
      await sleep(50);
    }
    say(`ready ${Date.now() - started} ms after the start`);
    await ask(url);
    loud(
      "buildah",
      ...run,
      "--env",
      `DECISION_PORT=${port}`,
      container,
      "--",
      "/usr/local/bin/node",
      "/app/healthcheck.mjs",
    );
    const pid = quiet("pgrep", "--newest", "--full", "^/usr/local/bin/node /app/bin/decision.js serve");
    assert.equal(quiet("stat", "--format", "%u:%g", `/proc/${pid}`), "10001:10001");
    const written = quiet("find", mount, "-xdev", "-type", "f", "-newer", mark, "-printf", "/%P\n");
    // Buildah itself puts these there
    const ours = written
      .split("\n")
      .filter((file) => !/^(\/etc\/(hosts|resolv\.conf|hostname))?$/.test(file));
    assert.deepEqual(ours, [], "a start wrote files");
    process.kill(Number(pid), "SIGTERM");
    assert.equal(await ended, 0, "exit code after SIGTERM");
    say("answers; runs as user 10001; wrote nothing; ended with 0 on SIGTERM");
  } finally {
    service.kill();
  }
}

async function ask(url) {
  const body = JSON.stringify({
    state: "My card was charged twice.",
    candidates: ["a billing question", "a parcel"],
  });
  const headers = { "content-type": "application/json" };
  const post = (more) => fetch(`${url}/v1/rank`, { method: "POST", body, headers: { ...headers, ...more } });
  assert.equal((await post({})).status, 401);
  const answer = await post({ authorization: `Bearer ${KEY}` });
  assert.equal(answer.status, 200);
  const { ranked } = await answer.json();
  assert.equal(ranked[0].text, "a billing question");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
