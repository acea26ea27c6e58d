import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type FileCalls, LogFile } from "../../src/cli/output/log-file.ts";

const MIB = 2 ** 20;

/** A file that writes when the test says so. */
class ScriptedFile implements FileCalls {
  text = "";
  #pending: { readonly bytes: Uint8Array; readonly done: Parameters<FileCalls["write"]>[1] } | undefined;
  #retry: (() => void) | undefined;
  /** What `writeNow` does. */
  now: (bytes: Uint8Array) => number = (bytes) => this.#keep(bytes);

  write(bytes: Uint8Array, done: Parameters<FileCalls["write"]>[1]): void {
    assert.equal(this.#pending, undefined, "one call at a time");
    this.#pending = { bytes, done };
  }

  writeNow(bytes: Uint8Array): number {
    return this.now(bytes);
  }

  after(_ms: number, act: () => void): void {
    this.#retry = act;
  }

  /** Ends the call in progress. @param most bytes it writes */
  finish(most = Infinity): void {
    const { bytes, done } = this.#take();
    done(null, this.#keep(bytes.subarray(0, most)));
  }

  fail(code: string): void {
    this.#take().done(Object.assign(new Error(code), { code }), 0);
  }

  retry(): void {
    this.#retry?.();
  }

  get isWriting(): boolean {
    return this.#pending !== undefined;
  }

  #keep(bytes: Uint8Array): number {
    this.text += Buffer.from(bytes).toString();
    return bytes.length;
  }

  #take() {
    const pending = this.#pending;
    assert.ok(pending, "nothing is being written");
    this.#pending = undefined;
    return pending;
  }
}

function setUp() {
  const calls = new ScriptedFile();
  return { calls, file: new LogFile(calls) };
}

describe("the file of a log", () => {
  it("writes lines in order, and those that wait together", () => {
    const { calls, file } = setUp();
    for (const line of ["a\n", "b\n", "c\n"]) file.write(line);
    calls.finish();
    calls.finish();
    assert.equal(calls.text, "a\nb\nc\n");
    assert.equal(calls.isWriting, false);
    assert.equal(file.lost, 0);
  });

  it("goes on where a call has written a part", () => {
    const { calls, file } = setUp();
    file.write("abcdef\n");
    calls.finish(2);
    calls.finish(3);
    calls.finish();
    assert.equal(calls.text, "abcdef\n");
  });

  it("waits for a reader that does not read, and then writes everything", () => {
    const { calls, file } = setUp();
    file.write("a\n");
    calls.fail("EAGAIN");
    file.write("b\n");
    assert.equal(calls.isWriting, false, "until the next try");
    calls.retry();
    calls.fail("EAGAIN");
    calls.retry();
    calls.finish();
    while (calls.isWriting) calls.finish();
    assert.equal(calls.text, "a\nb\n");
    assert.equal(file.lost, 0);
  });

  it("loses and counts the lines that exceed what may wait", () => {
    const { calls, file } = setUp();
    const line = `${"x".repeat(1023)}\n`;
    for (let i = 0; i < 3000; i++) file.write(line);
    assert.ok(file.lost >= 3000 - 1 - MIB / 1024, `${file.lost} lost`);
    const { lost } = file;
    while (calls.isWriting) calls.finish();
    assert.equal(calls.text.length, (3000 - lost) * 1024);
    file.write("again\n");
    calls.finish();
    assert.equal(file.lost, lost);
  });

  it("loses and counts the lines of a full disk, and writes those after it", () => {
    const { calls, file } = setUp();
    file.write("a\n");
    file.write("b\n");
    calls.fail("ENOSPC");
    calls.fail("ENOSPC");
    assert.equal(file.lost, 2);
    file.write("c\n");
    calls.finish();
    assert.equal(calls.text, "c\n");
  });

  it("writes at the end of the process what can be written at once", () => {
    const { calls, file } = setUp();
    file.write("a\n");
    calls.fail("EAGAIN");
    file.write("b\n");
    file.flush();
    assert.equal(calls.text, "a\nb\n");
  });

  for (const [name, now] of [
    ["does not read", () => 0],
    ["is gone", () => assert.fail("EPIPE")],
  ] as const) {
    it(`does not wait at the end of the process for a reader that ${name}`, () => {
      const { calls, file } = setUp();
      file.write("a\n");
      calls.fail("EAGAIN");
      calls.now = now;
      file.flush();
      assert.equal(calls.text, "");
    });
  }
});
