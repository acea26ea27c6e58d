import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser that is installed, or the one that CHROMIUM_PATH names. */
function browserPath(): string {
  const { CHROMIUM_PATH, PATH = "" } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  const folders = PATH.split(path.delimiter);
  const found = folders
    .flatMap((folder) => NAMES.map((name) => path.join(folder, name)))
    .find((file) => existsSync(file));
  assert.ok(found, "no Chromium: install it (apt-get install chromium), or name one in CHROMIUM_PATH");
  return found;
}

/** Without a sandbox of its own, which needs rights that containers do not have: it opens nothing but the service under test. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Asserts that axe-core finds nothing to complain about. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE); // by the debugger, which the page's policy does not bind
  const violations = await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + failureSummary).join(' | ')))",
  );
  assert.deepEqual(violations, [], what);
}
