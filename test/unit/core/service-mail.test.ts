import { expect, test } from "bun:test";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { serviceMail } from "../../../src/core/service-mail.ts";

const PARTS = { brand: DEFAULT_BRAND, subject: "Hello", paragraphs: ["A line."] };

test("text and HTML of a service mail say the same", () => {
  const mail = serviceMail({
    ...PARTS,
    facts: [["Amount", "$20.00"]],
    button: { label: "Open it", url: "https://farebox.example/x" },
  });
  for (const said of ["A line.", "Amount", "$20.00", "Open it", "https://farebox.example/x"]) {
    expect(mail.text).toContain(said);
    expect(mail.html).toContain(said);
  }
});

test("text of others cannot become markup, a header or another line", () => {
  const evil = '<b onclick="x">&\r\nBcc: eve@x.test\u202e';
  const mail = serviceMail({
    brand: { ...DEFAULT_BRAND, name: evil },
    subject: evil,
    paragraphs: [evil],
    facts: [[evil, evil]],
    button: { label: evil, url: 'https://x.test/"><script>' },
  });
  expect(mail.subject).not.toMatch(/[\r\n\u202e]/);
  expect(mail.html).not.toMatch(/<b |<script|\u202e/);
  expect(mail.text.split("\n").filter((line) => line.startsWith("Bcc"))).toEqual([]);
});

test("a button leads to a web address", () => {
  for (const url of ["javascript:alert(1)", "data:text/html,x", "/relative", ""]) {
    expect(() => serviceMail({ ...PARTS, button: { label: "x", url } })).toThrow(RangeError);
  }
});
