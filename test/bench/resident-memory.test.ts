import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countOnce, residentOnce } from "../../bench/http/resident-memory.ts";

const part = (place: string, rss: number, anonymous: number) =>
  `00400000-00b6f000 ${place}\nSize: 9999 kB\nRss: ${rss} kB\nPss: 1 kB\nAnonymous: ${anonymous} kB\nVmFlags: rd mr\n`;
const program = "r-xp 00001000 fe:00 17 /usr/bin/node";
const heap = "rw-p 00000000 00:00 0 [heap]";

describe("resident memory of processes that share pages", () => {
  it("pages of a file count once, anonymous pages in each process", () => {
    const maps = [part(program, 100, 0) + part(heap, 30, 30), part(program, 80, 0) + part(heap, 5, 5)];
    assert.equal(countOnce(maps), (100 + 30 + 5) * 1024);
  });

  it("so do pages of a file that one process maps twice", () => {
    assert.equal(countOnce([part(program, 100, 0) + part(program, 60, 0)]), 100 * 1024);
  });

  it("other parts of the file are other pages, and changed pages are the process's own", () => {
    const other = program.replace("00001000", "00009000");
    assert.equal(
      countOnce([part(program, 100, 10) + part(other, 7, 0), part(program, 95, 2)]),
      (10 + 2 + 93 + 7) * 1024,
    );
  });

  it("that of this process is known", { skip: process.platform !== "linux" }, () => {
    const bytes = residentOnce(process.pid) ?? assert.fail("not known");
    assert.ok(bytes > 20e6 && bytes < 2 * process.memoryUsage.rss(), `${bytes} bytes`);
  });
});
