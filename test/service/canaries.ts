import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { HeldMessages } from "../support/held-messages.ts";
import { inferenceProcessesOf, inferenceProcessOf } from "../support/processes.ts";
import { Service, SMALL } from "./service.ts";

export const KEY = "canary-key-7f3a";
const HUB_TOKEN = "canary-hub-token-7f3a";
const WRONG_KEY = "canary-wrong-key-7f3a";
/** Each is in one place of a request. */
export const TEXTS = {
  state: "canary-state-7f3a",
  instructions: "canary-instructions-7f3a",
  question: "canary-question-7f3a",
  label: "canary-label-7f3a",
  description: "canary-description-7f3a",
  member: "canary-member-7f3a",
  header: "canary-header-7f3a",
  path: "canary-path-7f3a",
};
const CANARIES = [KEY, HUB_TOKEN, WRONG_KEY, ...Object.values(TEXTS)];

const WATCHED = {
  state: TEXTS.state,
  questions: {
    [TEXTS.question]: {
      type: "choice",
      instructions: TEXTS.instructions,
      criteria: { [TEXTS.label]: TEXTS.description, other: "another one" },
    },
  },
};
const INVALID = { state: TEXTS.state, questions: {}, [TEXTS.member]: TEXTS.instructions };

/** @throws AssertionError where a text has a canary, in any form that texts are written in */
export function assertNone(where: string, text: string, canaries: readonly string[] = CANARIES): void {
  for (const canary of canaries)
    for (const form of [
      canary,
      Buffer.from(canary).toString("base64").slice(0, -4),
      encodeURIComponent(canary),
    ])
      assert.ok(!text.includes(form), `${where} has ${canary}: ${text.slice(0, 2_000)}`);
}

/** Every file below a folder, as latin1. */
export async function contentsOf(
  folder: string,
): Promise<readonly (readonly [name: string, text: string])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
  return Promise.all(files.map(async (file) => [file, await readFile(file, "latin1")] as const));
}

/** Checks what other users of the machine can see of a process, and what the inference process inherits. */
async function assertProcesses(pid: number): Promise<void> {
  if (!existsSync("/proc/self/cmdline")) return;
  for (const each of [pid, ...inferenceProcessesOf(pid)])
    for (const file of ["cmdline", "comm", "status"])
      assertNone(`/proc/${file}`, await readFile(`/proc/${each}/${file}`, "latin1"));
  for (const each of inferenceProcessesOf(pid))
    assertNone("the inference process's environment", await readFile(`/proc/${each}/environ`, "latin1"));
}

/**
 * Sends canaries in every place of requests through answers, refusals and restarts, and searches for them everywhere
 * else.
 */
export async function searchCanaries(level: string): Promise<void> {
  const home = await mkdtemp(path.join(tmpdir(), "canaries-"));
  const held = await HeldMessages.create("load", "score");
  const env = {
    ...held.env,
    HOME: home,
    XDG_CACHE_HOME: home,
    XDG_DATA_HOME: home,
    TMPDIR: home,
    DECISION_API_KEY: KEY,
    HF_TOKEN: HUB_TOKEN,
  };
  const modelPath = path.join(home, "model");
  await writeTinyPackage(modelPath);
  const flags = ["--log-level", level, "--cache-size", "1000", "--model-path", modelPath];
  const service = await Service.start(flags, env);
  let printed = "";
  service.process.stdout?.on("data", (text) => {
    printed += text;
  });
  try {
    const { pid } = service.process;
    assert.ok(pid);
    const keyed = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
    const own = await service.post("/v1/systemone", WATCHED, keyed);
    assert.equal(own.status, 200, own.text);
    assert.ok(own.text.includes(TEXTS.label), "its own answer names the label: the canary is seen");
    assert.equal((await service.post("/v1/systemone", INVALID, keyed)).status, 422);
    await held.hold("score");
    const busy = service.post("/v1/systemone", { ...WATCHED, state: `${TEXTS.state} again` }, keyed);
    await service.until(({ running_requests }) => running_requests === 1);
    process.kill(inferenceProcessOf(pid), "SIGKILL");
    await held.release("score");
    await busy;
    await service.until(({ status }) => status === "ready");
    const wrong = { ...keyed, authorization: `Bearer ${WRONG_KEY}`, "x-request-id": `${TEXTS.header} ?` };
    const others = [
      await service.post("/v1/systemone", SMALL, wrong),
      await service.post("/v1/systemone", { state: 1 }, keyed),
      await service.post("/v1/systemone", SMALL, keyed),
      await service.call("GET", `/${TEXTS.path}?${TEXTS.path}`),
      await service.call("GET", "/health"),
      await service.call("GET", "/v1/models"),
      await service.call("GET", "/openapi.json"),
      await service.call("GET", "/metrics"),
    ];
    assert.deepEqual(
      others.map(({ status }) => status),
      [401, 422, 200, 404, 200, 200, 200, 200],
    );
    for (const { text, headers } of others) assertNone("another answer", text + JSON.stringify(headers));
    await assertProcesses(pid);
  } finally {
    await service.stop();
    await held.remove();
  }
  assertNone("stderr", service.log);
  assertNone("stdout", printed);
  if (!["silent", "error"].includes(level))
    assert.match(service.log, /inference process ended/, "a log is written at all");
  const files = await contentsOf(home);
  assert.ok(
    files.some(([file]) => file.endsWith("graph.onnx")),
    "the graph is in the cache",
  );
  for (const [file, text] of files) assertNone(file, text);
  await rm(home, { recursive: true });
}
