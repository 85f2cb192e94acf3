import { expect, test } from "bun:test";
import { csvLine } from "../../../../src/core/text/csv.ts";

test("texts are in quotes, numbers and decimals bare, and null is an empty cell", () => {
  const line = csvLine(["a", "", 0, -1.5, { decimal: "0.0000001" }, null, "z"]);
  expect(line).toBe('"a","",0,-1.5,0.0000001,,"z"\r\n');
  expect(csvLine([])).toBe("\r\n");
});

test("quotes are doubled; commas and line breaks stay within the quotes", () => {
  expect(csvLine(['say "hi"', "a,b", "one\r\ntwo", '"'])).toBe(
    '"say ""hi""","a,b","one\r\ntwo",""""\r\n',
  );
});

test("a text that a spreadsheet would run as a formula gets an apostrophe before it", () => {
  for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]) {
    expect(csvLine([formula])).toBe(`"'${formula}"\r\n`);
  }
  for (const harmless of ["1=1", "a-b", " =1", "é@"]) {
    expect(csvLine([harmless])).toBe(`"${harmless}"\r\n`);
  }
});

test("a negative amount is a number and not a formula", () => {
  expect(csvLine([-1, { decimal: "-1.5" }])).toBe("-1,-1.5\r\n");
});
