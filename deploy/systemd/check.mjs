// Checks the units by systemd's own tools, that the service tells systemd when it is ready, and that it starts by its
// socket: `npm run check:systemd`. Needs systemd-analyze, systemd-notify, systemd-socket-activate, Python 3 and a built
// checkout. Needs no running systemd.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const root = path.join(import.meta.dirname, "../..");
const unit = path.join(import.meta.dirname, "decision.service");
const MOST_EXPOSED = 20; // tenths
const folder = mkdtempSync(path.join(tmpdir(), "check-systemd-"));

try {
  verify();
  assess();
  await listenForReady();
  await startBySocket();
} finally {
  rmSync(folder, { recursive: true });
}

/** The program of the unit need not be installed: another one stands in its place. */
function verify() {
  const program = path.join(folder, "decision");
  writeFileSync(program, "#!/bin/sh\n");
  chmodSync(program, 0o755);
  const copy = path.join(folder, "decision.service");
  writeFileSync(copy, readFileSync(unit, "utf8").replace(/^ExecStart=\S+/m, `ExecStart=${program}`));
  const socket = path.join(folder, "decision.socket");
  writeFileSync(socket, readFileSync(path.join(import.meta.dirname, "decision.socket"), "utf8"));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", copy, socket], {
    encoding: "utf8",
  });
  assert.equal(`${stdout}${stderr}`, "");
  assert.equal(status, 0);
  console.log("the units are valid");
}

function assess() {
  const args = ["security", "--no-pager", "--offline=true", `--threshold=${MOST_EXPOSED}`, unit];
  const { status, stdout } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  const [exposure = "no exposure level"] = /Overall exposure level.*/.exec(stdout) ?? [];
  console.log(exposure);
  assert.equal(status, 0, stdout);
}

/** Stands where systemd would: Node.js has no sockets of this kind, Python has. */
async function listenForReady() {
  const socket = path.join(folder, "notify");
  const code = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True:
    # the descriptor that comes along is closed, which tells the sender that its message was read
    data, descriptors, _, _ = socket.recv_fds(s, 4096, 4)
    for d in descriptors: socket.close(d)
    print(data.decode().replace("\\n", " "), flush=True)
`;
  const listener = spawn("python3", ["-c", code, socket], { stdio: ["ignore", "pipe", "inherit"] });
  const messages = createInterface({ input: listener.stdout })[Symbol.asyncIterator]();
  assert.equal((await messages.next()).value, "listening");
  const service = spawn(process.execPath, ["bin/decision.js", "serve", "--port", "0"], {
    cwd: root,
    env: { ...process.env, NOTIFY_SOCKET: socket },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const printed = once(createInterface({ input: service.stdout }), "line");
    const { value: message } = await messages.next();
    assert.match(message, /READY=1/);
    assert.match(String(await printed), /^decision serves /);
    console.log("the service says that it is ready");
  } finally {
    service.kill();
    await once(service, "exit");
    listener.kill();
  }
}

/** Starts at the first connection, which waits until the service answers it. */
async function startBySocket() {
  const port = await freePort();
  const command = [process.execPath, "bin/decision.js", "serve"];
  const listener = spawn(
    "systemd-socket-activate",
    [`--listen=127.0.0.1:${port}`, "-E", "PATH", ...command],
    {
      cwd: root,
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  try {
    assert.match(String(await once(listener.stderr, "data")), /Listening on/);
    listener.stderr.resume();
    assert.equal((await fetch(`http://127.0.0.1:${port}/ready`)).status, 200);
    console.log("the service starts by its socket");
  } finally {
    listener.kill();
    await once(listener, "exit");
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
