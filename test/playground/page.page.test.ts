import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { EXAMPLES } from "../../playground/examples.ts";
import { heavy, KEY, Service } from "../service/service.ts";
import { assertAccessible, launch } from "./browser.ts";

const DESKTOP = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

let browser: Browser;
let open: Service;
let context: BrowserContext;
let page: Page;
/** What the page complained of, and what it asked of other hosts. */
let complaints: string[];

before(async () => {
  [browser, open] = await Promise.all([launch(), Service.start()]);
});
after(async () => {
  await browser.close();
  await open.stop();
});
beforeEach(async () => {
  await context?.close();
  page = await fresh(open);
});

/** A page of its own at the service's address, in a browser profile of its own. */
async function fresh(service: Service, viewport = DESKTOP, colorScheme: "light" | "dark" = "light") {
  context = await browser.newContext({ viewport, colorScheme });
  const address = `http://127.0.0.1:${service.port}`;
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
  const opened = await context.newPage();
  complaints = [];
  opened.on("pageerror", (error) => complaints.push(String(error)));
  opened.on("console", (message) => {
    // the browser itself reports each status of 400 and above
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  opened.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:"))
      complaints.push(`asks ${request.url()}`);
  });
  await opened.goto(address);
  await opened.getByText("ready", { exact: false }).first().waitFor();
  return opened;
}

const button = (name: string) => page.getByRole("button", { name, exact: true });
const segment = (name: string) => page.getByRole("radio", { name, exact: true }).click({ force: true });
const answer = (name: string) =>
  page.locator("article.answer").filter({ has: page.getByRole("heading", { name, exact: true }) });

async function answered(): Promise<void> {
  await page.getByText("in the service").waitFor();
}

describe("an example", () => {
  for (const { name, operation, expected } of EXAMPLES) {
    it(`comes out right: ${name}`, async () => {
      await button(name).click();
      await answered();
      for (const [question, want] of Object.entries(expected)) {
        const best =
          operation === "rank"
            ? page.locator(".ranked li.best")
            : answer(question).locator(".bars li.best .bar-label");
        const shown = { true: "yes", false: "no" }[want] ?? want;
        if (name === "Rank next steps") assert.match(await best.innerText(), /^Open the printer/);
        else assert.ok((await best.innerText()).startsWith(shown), `${question}: ${await best.innerText()}`);
      }
      assert.match(await page.locator(".facts").innerText(), /\d ms/);
      assert.match(await page.locator("[role=status]").innerText(), /^Answered in [\d.]+ milliseconds/);
      assert.deepEqual(complaints, []);
    });
  }
});

describe("the page", () => {
  for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const scheme of ["light", "dark"] as const) {
      it(`is accessible and fits: ${size}, ${scheme}`, async () => {
        await context.close();
        page = await fresh(open, viewport, scheme);
        for (const name of ["Complaint", "Rank replies"]) {
          await button(name).click();
          await answered();
          await page.waitForFunction("document.getAnimations().length === 0");
          await assertAccessible(page, `${name}, ${size}, ${scheme}`);
        }
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.equal(overflow, 0, "it scrolls sideways");
      });
    }
  }

  it("is used by keyboard alone", async () => {
    await page.locator("#state").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("The staff was rude and the food was cold.");
    await page.keyboard.press("Control+Enter");
    await answered();
    await page.locator("#add-noul").focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction("document.activeElement.id !== 'add-noul'"); // otherwise the space bar adds questions
    await page.keyboard.type("The guest complains.");
    await page.keyboard.press("Control+Enter");
    await answer("question").waitFor();
    await page.getByRole("button", { name: "Remove question 4" }).press("Enter");
    await page.locator("fieldset.card").nth(3).waitFor({ state: "detached" });
    assert.equal(await page.locator("fieldset.card").count(), 3);
    await page.waitForFunction("document.activeElement.id === 'add-choice'");
    assert.deepEqual(complaints, []);
  });

  it("takes the colours that are chosen, and keeps them", async () => {
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await page.getByLabel("Colours").selectOption("dark");
    await page.waitForFunction("document.documentElement.dataset.theme === 'dark'");
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    await page.locator("#state").waitFor();
    assert.equal(await ground(), dark);
  });

  it("shows the same request as code, and copies it", async () => {
    for (const [language, has] of [
      ["Python", "urllib.request"],
      ["TypeScript", "await fetch("],
      ["curl", "curl -s http://127.0.0.1:"],
    ] as const) {
      await segment(language);
      const text = await page.locator("#snippet").innerText();
      assert.ok(text.includes(has) && text.includes("charged twice"), text);
      await button("Copy").click();
      await page.getByText(`The ${language} code is copied.`).waitFor();
      const copied = await page.evaluate("navigator.clipboard.readText()");
      assert.equal(String(copied).trim(), text.trim());
    }
  });

  it("opens a link with its request, which no server has seen", async () => {
    await page.locator("#state").fill("A request of my own");
    await button("Copy link").click();
    await page.getByText("The link is copied.", { exact: false }).waitFor();
    const link = String(await page.evaluate("navigator.clipboard.readText()"));
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#systemone=[\w-]+$/);
    await page.goto("about:blank");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(link);
    await page.waitForFunction("document.querySelector('#state')?.value === 'A request of my own'");
    assert.deepEqual(
      asked.filter((url) => url.includes("systemone=")),
      [],
    );
  });

  it("shows as JSON what the form sends, and as a form what the JSON says", async () => {
    await segment("JSON");
    const text = await page.locator("#body").inputValue();
    assert.equal(JSON.parse(text).questions.angry.type, "noul");
    await page.locator("#body").fill(text.replace('"angry"', '"furious"'));
    await segment("Form");
    assert.equal(await page.getByLabel("Name").nth(1).inputValue(), "furious");
    await segment("JSON");
    await page.locator("#body").fill('{"state": 5, "questions": {}}');
    await segment("Form");
    await page.getByText("The form cannot show a state that is a number", { exact: false }).waitFor();
    await assertAccessible(page, "a problem of the JSON");
  });

  it("links to the documentation", async () => {
    for (const [name, target] of [
      ["API", "/docs"],
      ["Reference", "/redoc"],
    ] as const) {
      const link = page.getByRole("link", { name, exact: true });
      assert.equal(new URL((await link.getAttribute("href")) ?? "", page.url()).pathname, target);
    }
  });
});

describe("a 422", () => {
  it("is shown at its field, which gets the focus", async () => {
    await page.getByLabel("Description 2").fill("Wants money back for a charge");
    await button("Ask").click();
    const field = page.getByLabel("Description 2");
    await page.locator("[aria-invalid=true]").waitFor();
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    const described = await field.getAttribute("aria-describedby");
    assert.match(await page.locator(`#${described}`).innerText(), /unlike all others/);
    await page.waitForFunction("document.activeElement.getAttribute('aria-invalid') === 'true'");
    await assertAccessible(page, "a 422");
    await field.fill("Wants to end a subscription");
    await button("Ask").click();
    await answered();
    assert.equal(await page.locator("[aria-invalid]").count(), 0);
  });

  it("of a group is shown at the group", async () => {
    for (const label of [3, 2]) await page.getByRole("button", { name: `Remove label ${label}` }).click();
    await button("Ask").click();
    await page.locator("fieldset.rows .fault").waitFor();
    assert.match(await page.locator("fieldset.rows .fault").innerText(), /at least 2/);
  });

  it("is shown at its line in the JSON, and selects it", async () => {
    await segment("JSON");
    await page
      .locator("#body")
      .fill('{\n  "state": "x",\n  "questions": {"q": {"type": "box", "instructions": ""}}\n}');
    await button("Ask").click();
    await page.getByRole("button", { name: "Line 3" }).click();
    const selected = await page.evaluate(
      "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.querySelector('#body'))",
    );
    assert.equal(selected, '"type": "box"');
    await assertAccessible(page, "a 422 of the JSON");
  });
});

describe("a service with a key", () => {
  it("refuses a wrong one at its field; the right one stays in the tab alone", async () => {
    const keyed = await Service.start([], { DECISION_API_KEY: KEY });
    try {
      await context.close();
      page = await fresh(keyed);
      await button("Ask").click();
      const field = page.getByLabel("Key of this service");
      await page.getByText("The service needs a key.").waitFor();
      await page.waitForFunction("document.activeElement.id === 'key'");
      await assertAccessible(page, "a refused key");
      await field.fill("wrong ключ");
      await button("Ask").click();
      await page.getByText("The service refuses this key.").waitFor();
      await page.getByText("Expected a valid key", { exact: false }).waitFor();
      await field.fill(KEY);
      await page.keyboard.press("Control+Enter");
      await answered();
      assert.ok(!(await page.locator("#snippet").innerText()).includes(KEY));
      assert.match(await page.locator("#snippet").innerText(), /DECISION_API_KEY/);
      await button("Copy link").click();
      assert.ok(!page.url().includes(KEY));
      await page.reload();
      await button("Ask").click();
      await answered();
      const other = await context.newPage();
      await other.goto(`http://127.0.0.1:${keyed.port}/`);
      await other.getByRole("button", { name: "Ask", exact: true }).click();
      await other.getByText("The service needs a key.").waitFor();
      assert.deepEqual(complaints, []);
    } finally {
      await keyed.stop();
    }
  });
});

describe("a full queue", () => {
  it("is told with its code, and can be asked again", async () => {
    const small = await Service.start(["--queue-size", "1", "--max-batch-size", "1"]);
    const leaving = new AbortController();
    try {
      await context.close();
      page = await fresh(small);
      const running = small.call("POST", "/v1/systemone", { body: heavy(50), signal: leaving.signal });
      running.catch(() => {}); // left below
      await small.until(({ running_requests }) => running_requests === 1);
      // as long as the first: a short request would be answered between its slices
      const queued = small.call("POST", "/v1/systemone", { body: heavy(50, 1), signal: leaving.signal });
      queued.catch(() => {});
      await small.until(({ queued_requests }) => queued_requests === 1);
      await button("Ask").click();
      await page.getByText("The inference queue is full.").waitFor();
      await page.getByText("QUEUE_FULL").waitFor();
      await assertAccessible(page, "a full queue");
      leaving.abort();
      await small.until(
        ({ queued_requests, running_requests }) => queued_requests === 0 && running_requests === 0,
      );
      await button("Ask again").click();
      await answered();
    } finally {
      leaving.abort();
      await small.stop();
    }
  });
});

describe("a service that has ended", () => {
  it("is told, also in the header", async () => {
    const ending = await Service.start();
    await context.close();
    page = await fresh(ending);
    await ending.stop();
    await button("Ask").click();
    await page.getByText("The service does not answer.", { exact: false }).waitFor();
    await page.locator(".status").filter({ hasText: "unreachable" }).waitFor();
  });
});
