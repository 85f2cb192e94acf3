import { describe, expect, test } from "bun:test";
import { headerText } from "../../../../src/core/text/header-text.ts";
import { withHtmlFooter, withTextFooter } from "../../../../src/services/mail/mail-text.ts";

test("headerText() lets no line break, control or bidi control into a header", () => {
  expect(headerText("a\r\nBcc: e@x.test")).toBe("aBcc: e@x.test");
  expect(headerText("a\nb\rc\u0085d\u2028e\u2029f\vg\fh")).toBe("abcdefgh");
  expect(headerText("a\tb\0c\u001bd\u007fe\u009ff")).toBe("a bcdef");
  expect(headerText("\u202eevil\u2066x\u2069\u200f\u061c")).toBe("evilx");
  expect(headerText("\r\n \u2028")).toBe("");
  expect(headerText("👩‍👩‍👧 Grüße")).toBe("👩‍👩‍👧 Grüße");
});

test("withTextFooter() puts the footer after the signature mark", () => {
  expect(withTextFooter("Hello\r\n\n", "Sent by x.test.")).toBe("Hello\n\n-- \nSent by x.test.\n");
  expect(withTextFooter("\r\n\r\n", "F")).toBe("\n\n-- \nF\n");
});

test("withTextFooter() reads a hostile text once, however long it is", () => {
  // Starting again at each of these would take minutes, beyond the time of a test.
  const text = `${"\n".repeat(5_000_000)}x`;
  expect(withTextFooter(text, "F")).toBe(`${text}\n\n-- \nF\n`);
});

describe("withHtmlFooter()", () => {
  const mark = (html: string) => withHtmlFooter(html, "F").replace(/<p style="[^"]*">F<\/p>/, "|");

  test("puts the footer before the closing body and changes nothing else", () => {
    expect(mark("<html><body>a</body></html>")).toBe("<html><body>a|</body></html>");
    expect(mark("<BODY>a</BODY\n>")).toBe("<BODY>a|</BODY\n>");
    expect(mark("<p>a")).toBe("<p>a|");
    expect(mark("")).toBe("|");
    expect(mark("a</body></body>b")).toBe("a</body>|</body>b");
  });

  test("ignores a </body> that is only text", () => {
    expect(mark("a</body><!-- </body> -->")).toBe("a|</body><!-- </body> -->");
    const script = '<script>"</body>"</script>';
    expect(mark(`${script}a</body>`)).toBe(`${script}a|</body>`);
    expect(mark("<textarea></body></textarea>")).toBe("<textarea></body></textarea>|");
  });

  test("never lets the footer become markup", () => {
    expect(withHtmlFooter("", '<b>&"')).toContain("&lt;b&gt;&amp;&quot;");
  });

  test("reads a hostile document once, however long it is", () => {
    // Starting again at each of these would take minutes, beyond the time of a test.
    for (const piece of ["<!--", "<script>", "</body"]) {
      expect(withHtmlFooter(piece.repeat(1_000_000), "F")).toStartWith(piece);
    }
  });
});
