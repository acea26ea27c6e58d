// promptfoo's command line with its http provider, whose settings are those of docs/dialects.md. It needs Node 22.22,
// which npm fetches. Its optional packages (browsers, clouds) are left out, but for the binary of its database.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { check, fullUrl, key, nodeOf, plain, report, slowUrl, url } from "../ready.mjs";

const STATE = "I was charged twice for one order. Give me my money back today!";
const QUESTIONS = {
  intent: {
    type: "choice",
    instructions: "What does the customer want?",
    criteria: { refund: "Wants money back", cancel: "Wants to end a subscription" },
  },
  angry: { type: "noul", instructions: "The customer is angry." },
  urgency: { type: "score", instructions: "How urgent is this?", criteria: ["can wait", "today"] },
};
const RANKING = {
  question: "Which reply helps?",
  candidates: ["We send the money back.", "Have a nice day."],
};

/** A provider whose prompt is the state. */
function provider(label, address, body, bearer = key) {
  const config = {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` },
    body: { state: "{{prompt}}", ...body },
    transformResponse: "json",
    validateStatus: "status < 400",
    maxRetries: 0,
  };
  return { id: address, label, config };
}

const providers = [
  provider("systemone", `${url}/v1/systemone`, { questions: QUESTIONS }),
  provider("rank", `${url}/v1/rank`, RANKING),
  provider("an error", `${url}/v1/rank`, { candidates: ["one"] }),
  provider("a wrong key", `${url}/v1/systemone`, { questions: QUESTIONS }, "wrong"),
  provider("a full queue", `${fullUrl}/v1/systemone`, { questions: QUESTIONS }),
  provider("the deadline", `${slowUrl}/v1/systemone`, { questions: QUESTIONS }),
];

/** Each provider with the same state. */
const configOf = (chosen) =>
  JSON.stringify({ prompts: ["{{state}}"], providers: chosen, tests: [{ vars: { state: STATE } }] });

/** The configuration that a user copies, with this service and its key. */
async function configOfPage() {
  const page = await readFile(new URL("../../../docs/dialects.md", import.meta.url), "utf8");
  const [, config = ""] = /```yaml\n(prompts:[\s\S]*?)```/.exec(page) ?? [];
  return config
    .replaceAll("http://127.0.0.1:8700", url)
    .replace(
      "content-type: application/json",
      `content-type: application/json, authorization: Bearer ${key}`,
    );
}

/**
 * Runs an evaluation.
 *
 * @param config in JSON or YAML
 * @param env    beside that of this program
 * @returns      its results by the provider's label
 */
function evaluate(config, env = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "promptfoo-"));
  const file = (name) => path.join(folder, name);
  writeFileSync(file("config.yaml"), config);
  const program = path.join(process.env.READY_MODULES, "promptfoo", "dist", "src", "entrypoint.js");
  const own = {
    PROMPTFOO_CONFIG_DIR: folder,
    PROMPTFOO_DISABLE_TELEMETRY: "1",
    PROMPTFOO_DISABLE_UPDATE: "1",
    PROMPTFOO_DISABLE_REMOTE_GENERATION: "1",
  };
  const flags = ["--no-cache", "--no-write", "--no-table", "--no-share"];
  const args = [program, "eval", "-c", file("config.yaml"), "-o", file("results.json"), ...flags];
  const { status, stdout, stderr } = spawnSync(nodeOf("22.23.3"), args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...own, ...env },
  });
  try {
    const { results } = JSON.parse(readFileSync(file("results.json"), "utf8")).results;
    return { status, byLabel: Object.fromEntries(results.map((result) => [result.provider.label, result])) };
  } catch (cause) {
    throw new Error(`${stdout}${stderr}`, { cause });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { byLabel } = evaluate(configOf(providers));

await check("the evaluation of docs/dialects.md passes", async () => {
  const { status, byLabel: passed } = evaluate(await configOfPage());
  assert.equal(status, 0);
  assert.deepEqual(
    Object.values(passed).map(({ success }) => success),
    [true],
  );
});

await check("systemone gives the plain contract's numbers", async () => {
  const expected = await plain("/v1/systemone", { state: STATE, questions: QUESTIONS });
  assert.deepEqual(byLabel.systemone.response.output.answers, expected.answers);
});

await check("rank gives the plain contract's numbers", async () => {
  const expected = await plain("/v1/rank", { state: STATE, ...RANKING });
  assert.deepEqual(byLabel.rank.response.output.ranked, expected.ranked);
});

for (const [label, status, said] of [
  ["an error", 422, /at least 2 /],
  ["a wrong key", 401, /key/],
  ["a full queue", 503, /queue is full/],
  ["the deadline", 504, /deadline/],
])
  await check(`${label} is told`, () => {
    assert.equal(byLabel[label].success, false);
    assert.match(byLabel[label].error, new RegExp(String(status)));
    assert.match(byLabel[label].error, said);
  });

await check("the client's own timeout", () => {
  const slow = providers.filter(({ label }) => label === "the deadline");
  const { byLabel: late } = evaluate(configOf(slow), { REQUEST_TIMEOUT_MS: "100" });
  assert.match(late["the deadline"].error, /timed out|timeout/i);
});

report();
