// Sends traces to a real OpenTelemetry collector and reads what it prints: `npm run check:traces`. Needs a built
// checkout and `otelcol` in PATH, or its path in OTELCOL, with otlpreceiver, debugexporter and fileprovider.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const CANARY = "xyzzytrace";
const root = path.join(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(tmpdir(), "check-traces-"));
const port = await freePort();
let printed = "";

const file = path.join(folder, "collector.yaml");
writeFileSync(
  file,
  readFileSync(path.join(import.meta.dirname, "collector.yaml"), "utf8").replace("4318", port),
);
const collector = spawn(process.env.OTELCOL ?? "otelcol", ["--config", `file:${file}`], {
  stdio: ["ignore", "pipe", "pipe"],
});
collector.on("error", ({ message }) => {
  console.error(`the collector cannot be run (${message}): install it, or set OTELCOL.`);
  process.exit(1);
});
for (const stream of [collector.stdout, collector.stderr]) {
  stream.on("data", (text) => {
    printed += text;
  });
}
try {
  await until(() => printed.includes("Everything is ready"));
  const answer = await askTraced();
  await until(() => spans().length === 4);
  const arrived = spans();
  const request = arrived.find(({ name }) => name === "systemone");
  assert.deepEqual([request.trace, request.parent], [TRACE, CALLER]);
  assert.equal(answer, `00-${TRACE}-${request.id}-01`);
  const steps = arrived.filter((span) => span !== request);
  assert.deepEqual(steps.map(({ name }) => name).sort(), ["forward", "queue", "tokenize"]);
  for (const { trace, parent } of steps) assert.deepEqual([trace, parent], [TRACE, request.id]);
  assert.match(printed, /service\.name: Str\(decision\)/);
  assert.ok(!printed.includes(CANARY), "content is in a span");
  console.log(
    "the collector has the request's span below its caller's, and tokenize, queue and forward below it",
  );
} finally {
  if (collector.exitCode === null) {
    collector.kill();
    await once(collector, "exit");
  }
  rmSync(folder, { recursive: true });
}

/** @returns the `traceparent` of the answer */
async function askTraced() {
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const command = ["bin/decision.js", "serve", "--port", "0"];
  const service = spawn(process.execPath, command, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(service.stdout, "data");
  const [url] = /http:\S+/.exec(String(line));
  const response = await fetch(`${url}/v1/systemone`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent: `00-${TRACE}-${CALLER}-01` },
    body: JSON.stringify({ state: CANARY, questions: { [CANARY]: { type: "noul", instructions: CANARY } } }),
  });
  assert.equal(response.status, 200, await response.text());
  service.kill(); // sends what is left
  await once(service, "exit");
  return response.headers.get("traceparent");
}

/** What the exporter has printed of each span. */
function spans() {
  const field = (text, name) => new RegExp(`^\\s+${name}\\s*: (\\S*)`, "m").exec(text)?.[1];
  return printed
    .split(/^Span #\d+$/m)
    .slice(1)
    .map((text) => ({
      trace: field(text, "Trace ID"),
      parent: field(text, "Parent ID"),
      id: field(text, "ID"),
      name: field(text, "Name"),
    }));
}

async function until(isSo) {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 600 && collector.exitCode === null, printed);
    await sleep(100);
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
