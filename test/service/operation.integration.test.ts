import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { inProcess } from "../cli/in-process.ts";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { packageRoot } from "../support/package-root.ts";
import { Service, SMALL } from "./service.ts";

const folder = mkdtempSync(path.join(tmpdir(), "operation-"));
const inFolder = (name: string) => path.join(folder, name);
const certificates = path.join(packageRoot, "test/support/tls");
const keys = (...args: string[]) =>
  inProcess(["keys", ...args], { env: { DECISION_KEYS_FILE: inFolder("keys.txt") } });

/** A small model: what it answers is not tested here. */
const MODEL = ["--model-path", inFolder("model")];

before(() => writeTinyPackage(inFolder("model")));
after(() => rmSync(folder, { recursive: true }));

function useCertificate(name: string): void {
  for (const end of ["crt", "key"]) cpSync(path.join(certificates, `${name}.${end}`), inFolder(`tls.${end}`));
}

/** Asks until the answer is as wanted. */
async function until<T>(ask: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const value = await ask();
    if (isWanted(value)) return value;
    assert.ok(Date.now() < end, `waited in vain: ${JSON.stringify(value)}`);
    await sleep(20);
  }
}

describe("a service with keys of a file and a certificate", () => {
  let service: Service;
  let key: string;

  /** @returns the status and the name in the certificate */
  const ask = (bearer: string, model?: string) =>
    new Promise<{ status: number | undefined; name: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
      const options = {
        port: service.port,
        path: "/v1/systemone",
        method: "POST",
        headers,
        agent: false,
        rejectUnauthorized: false,
      };
      const outgoing = requestTls(options, (response) => {
        const name = String((response.socket as TLSSocket).getPeerCertificate().subject?.CN);
        response.resume().on("end", () => resolve({ status: response.statusCode, name }));
      });
      outgoing.on("error", reject).end(JSON.stringify({ ...SMALL, model }));
    });

  before(async () => {
    useCertificate("first");
    key = (await keys("add", "web", "--requests-per-minute", "1000")).stdout.trim();
    const flags = [
      "--tls-cert",
      inFolder("tls.crt"),
      "--tls-key",
      inFolder("tls.key"),
      "--keys-file",
      inFolder("keys.txt"),
      "--alias",
      "router",
      ...MODEL,
    ];
    service = await Service.start(flags);
  });
  after(() => service.stop());

  it("answers over TLS, to those who have a key, under an alias of its own", async () => {
    assert.deepEqual(await ask(key), { status: 200, name: "first.localhost" });
    assert.deepEqual(await ask(key, "router"), { status: 200, name: "first.localhost" });
    assert.equal((await ask(key, "Router")).status, 422);
    assert.equal((await ask("another")).status, 401);
  });

  it("lists keys without digests, and refuses a name twice", async () => {
    assert.equal((await keys("list")).stdout, "web\t1000 requests a minute\n");
    assert.ok(!(await keys("list", "--json")).stdout.includes("sha256"));
    assert.ok(!readFileSync(inFolder("keys.txt"), "utf8").includes(key));
    const again = await keys("add", "web");
    assert.deepEqual([again.status, again.stdout], [2, ""]);
    assert.match(again.stderr, /has a key of this name/);
  });

  it("takes a new certificate, a new key and a revoked one without a restart, and loses no request", async () => {
    let isOver = false;
    const lost: unknown[] = [];
    const traffic = (async () => {
      for (; !isOver; await sleep(10))
        await ask(key).then(
          ({ status }) => status === 200 || lost.push(status),
          (error) => lost.push(error),
        );
    })();
    useCertificate("second");
    await until(
      () => ask(key),
      ({ name }) => name === "second.localhost",
    );
    const other = (await keys("add", "other")).stdout.trim();
    await until(
      () => ask(other),
      ({ status }) => status === 200,
    );
    await keys("revoke", "other");
    service.process.kill("SIGHUP");
    await until(
      () => ask(other),
      ({ status }) => status === 401,
    );
    isOver = true;
    await traffic;
    assert.deepEqual(lost, []);
    assert.equal(service.process.exitCode, null);
  });

  it("keeps its keys when the file is broken, and says so", async () => {
    writeFileSync(inFolder("keys.txt"), "broken\n");
    service.process.kill("SIGHUP");
    await until(
      async () => service.log,
      (log) => log.includes("cannot be reloaded"),
    );
    assert.equal((await ask(key)).status, 200);
  });
});

describe("a service on a Unix socket", () => {
  it("answers there, takes the place of one that was killed, and says what is in force", async () => {
    const socketPath = inFolder("service.sock");
    const model = inFolder("model");
    writeFileSync(
      inFolder("decision.yaml"),
      `socket: ${socketPath}\nmodel-path: ${model}\nlog-level: error\n`,
    );
    const listens = `require("node:net").createServer().listen(${JSON.stringify(socketPath)}, () => console.log("listens"))`;
    const first = spawn(process.execPath, ["--eval", listens]);
    await once(first.stdout, "data");
    const killed = once(first, "exit");
    first.kill("SIGKILL");
    await killed;
    assert.ok(existsSync(socketPath));
    const serve = [path.join(packageRoot, "bin/decision.js"), "serve", "--config", "decision.yaml"];
    const service = spawn(process.execPath, serve, { cwd: folder });
    const [line] = await once(service.stdout, "data");
    assert.match(String(line), /at http\+unix:\/\/.*service\.sock/);
    service.kill("SIGHUP"); // there is nothing to reload
    const status = await new Promise((resolve, reject) =>
      request({ socketPath, path: "/ready" }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end(),
    );
    assert.equal(status, 200);
    const shown = await inProcess(["config", "--config", "decision.yaml", "--json"], {
      cwd: folder,
      env: { DECISION_QUEUE_SIZE: "7", DECISION_API_KEY: "not-to-be-shown" },
    });
    assert.ok(!shown.stdout.includes("not-to-be-shown"));
    const { options } = JSON.parse(shown.stdout);
    const sourceOf = (name: string) =>
      options.find(({ option }: { option: string }) => option === name).source.kind;
    assert.deepEqual(["socket", "queue-size", "port"].map(sourceOf), ["file", "variable", "default"]);
    const ended = once(service, "exit");
    service.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
  });
});

describe("a socket that systemd passes", { skip: process.platform === "win32" }, () => {
  /** As systemd starts it: the socket is descriptor 3, and the process is the one that is meant. */
  async function startWith(host: string, ...flags: string[]) {
    const listener = createServer().listen(0, host);
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const { fd } = (listener as unknown as { readonly _handle: { readonly fd: number } })._handle;
    const command = [
      process.execPath,
      path.join(packageRoot, "bin/decision.js"),
      "serve",
      ...MODEL,
      ...flags,
    ];
    const script = 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"';
    const child = spawn("sh", ["-c", script, "sh", ...command], { stdio: ["ignore", "pipe", "pipe", fd] });
    listener.close(); // the child has its own
    let said = "";
    child.stderr?.on("data", (text) => {
      said += text;
    });
    return { child, port, said: () => said };
  }

  it("is listened on, and who connects during the start waits", async () => {
    const { child, port } = await startWith("127.0.0.1");
    const answer = await fetch(`http://127.0.0.1:${port}/ready`);
    assert.equal(answer.status, 200);
    // the socket's own address is a loopback one, so a page of another site is refused
    const named = request({ port, path: "/health", headers: { host: "evil.example" } }).end();
    const [refused] = await once(named, "response");
    assert.equal(refused.resume().statusCode, 403);
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });

  it("needs a key by its own address, whatever --host says", async () => {
    const { child, said } = await startWith("0.0.0.0", "--host", "127.0.0.1");
    const [status] = await once(child, "exit");
    assert.deepEqual([status, /can be reached from other hosts/.test(said())], [2, true], said());
  });
});
