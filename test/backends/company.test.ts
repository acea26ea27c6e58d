import assert from "node:assert/strict";
import { test } from "node:test";
import { Company } from "../../src/backends/onnx/forwards/company.ts";

const [ALONE, TOGETHER] = [false, true];

test("requests come one at a time from the start, and after company only when several in a row had none", () => {
  const company = new Company();
  const noted = [ALONE, ALONE, TOGETHER, ALONE, ALONE, ALONE, ALONE, ALONE, TOGETHER];
  assert.deepEqual(
    noted.map((hasCompany) => company.note(hasCompany)),
    [true, true, false, false, false, false, true, true, false],
  );
});

test("company in between begins the count again", () => {
  const company = new Company();
  for (let time = 0; time < 5; time++) {
    assert.equal(company.note(TOGETHER), false);
    for (let at = 0; at < 3; at++) assert.equal(company.note(ALONE), false);
  }
});
