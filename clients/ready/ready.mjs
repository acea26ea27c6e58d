// What the programs for Node share.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { READY_PLAIN_URL, READY_URL, READY_FULL_URL, READY_SLOW_URL, READY_KEY, READY_MODULES } = process.env;

export const url = READY_URL;
export const fullUrl = READY_FULL_URL;
export const slowUrl = READY_SLOW_URL;
export const key = READY_KEY;

/** Loads a package of the client. */
export async function load(name) {
  const require = createRequire(path.join(READY_MODULES, "program.js"));
  return import(pathToFileURL(require.resolve(name)).href);
}

/** The plain contract's answer to the same question. @param path such as /v1/systemone */
export async function plain(path, body) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${READY_KEY}` };
  const answer = await fetch(`${READY_PLAIN_URL}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}

/** Numbers that differ by rounding to two decimals at most. */
export function assertClose(actual, expected, tolerance = 0.005 + 1e-9) {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} instead of ${expected}`);
}

/** The executable of a version of Node, whose package has an install script. */
export function nodeOf(version) {
  const asked = ["exec", "--yes", "--ignore-scripts=false", "--package", `node@${version}`, "--"];
  return execFileSync("npm", [...asked, "node", "-p", "process.execPath"], { encoding: "utf8" }).trim();
}

let checks = 0;

/** Runs one check; its name is what is said where it fails. */
export async function check(name, run) {
  try {
    await run();
  } catch (cause) {
    throw new Error(`${name}: ${cause.message}`, { cause });
  }
  checks += 1;
}

/** The one line that a program prints. */
export function report() {
  console.log(`${checks} checks`);
}
