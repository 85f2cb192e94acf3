// Tests that texts of strangers become safe to show.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  candidateOf,
  cleanResults,
  isAllowed,
  pageAt,
  pageUrl,
} from "../../../../src/services/search/providers/clean-result.ts";
import { pageTextOf } from "../../../../src/services/search/providers/embedded/page-text.ts";
import {
  plainText,
  textOfHtml,
  textsOfHtml,
} from "../../../../src/services/search/providers/plain-text.ts";
import { dayOf, freshSince } from "../../../../src/services/search/providers/result-date.ts";
import { isPublic } from "../../../../src/upstream/public-address.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);

describe("textOfHtml()", () => {
  for (const [html, text] of [
    ["How <strong>fares</strong> are&nbsp;paid", "How fares are paid"],
    ["un<b>believ</b>able", "unbelievable"],
    ["one<br>two<p>three</p>", "one two three"],
    ["a < b and c > d", "a < b and c > d"],
    ["if x<y then z", "if x<y then z"],
    ["The &lt;div&gt; element &amp;amp; more", "The <div> element &amp; more"],
    ["&#72;&#x69; &#0; &#xD800; &nosuch; &copy", "Hi � � &nosuch; &copy"],
    [
      "&Auml;pfel, caf&Eacute;, r&ocirc;le, sm&oslash;rrebr&oslash;d",
      "Äpfel, cafÉ, rôle, smørrebrød",
    ],
    [
      "1 &le; 2 &rarr; 3 &#150; &alpha;&Omega; &CounterClockwiseContourIntegral;",
      "1 ≤ 2 → 3 – αΩ ∳",
    ],
    ["<script>alert(1)</script>safe<style>p{}</style>", "safe"],
    ["<scr<b>ipt>alert(1)</scr</b>ipt>", "alert(1)"],
    ["<img src=x onerror=alert(1)>caption", "caption"],
    ["<!-- note -->kept<!doctype html>", "kept"],
    ["line\r\n\tbreak\u0000\u001b[31m\u202egnol\u200b", "line break[31mgnol"],
    ["half \ud800 a pair", "half � a pair"],
    ["👩‍👩‍👧 and नमस्ते", "👩‍👩‍👧 and नमस्ते"],
  ] as const) {
    test(JSON.stringify(html), () => expect(textOfHtml(html, 200)).toBe(text));
  }

  test("a value that is not text gives no text", () => {
    const values = [null, undefined, 1, {}, ["x"]];
    for (const value of values) expect(textOfHtml(value, 10)).toBe("");
    expect(textsOfHtml([...values, "a"], 10)).toEqual(["", "", "", "", "", "a"]);
    expect(textsOfHtml([], 10)).toEqual([]);
  });

  test("a text that needs no cleaning, or is cleaned with others, gives the same result", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        " ",
        "  ",
        "a",
        "plain words",
        "&",
        "&amp;",
        "&lt;b&gt;",
        "&#39;",
        "&amp;lt;",
        "&lt;&amp;amp;",
        "&nbsp;",
        "\u00a0",
        "\u2003",
        "\u3000",
        "<",
        "<b>",
        "é",
        "\t",
      ),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
    const texts = fc.array(text, { maxLength: 5 });
    fc.assert(
      // Markup without visible parts makes the text go through cleaning.
      fc.property(texts, fc.integer({ min: 20, max: 40 }), (htmls, charactersMax) => {
        const cleaned = htmls.map((html) => textOfHtml(`${html}<b></b>`, charactersMax));
        expect(htmls.map((html) => textOfHtml(html, charactersMax))).toEqual(cleaned);
        expect(textsOfHtml(htmls, charactersMax)).toEqual(cleaned);
      }),
      { numRuns: 20_000 },
    );
  });

  test("of all characters only invisible ones are removed", () => {
    const unseen = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;
    for (let code = 0; code < 0x1_0000; code += 1) {
      const character = String.fromCharCode(code);
      if (/[<&\ud800-\udfff]/.test(character)) continue;
      const kept = unseen.test(character) ? "" : character;
      const expected = /\s/.test(character) ? " " : kept;
      expect(plainText(`a${character}b`, 10)).toBe(`a${expected}b`);
    }
  });

  test("whitespace of any kind and length becomes one space", () => {
    const spaces = fc.constantFrom(" ", "  ", "\t", "\r\n", "\u00a0", "\u2003 ", " \u3000\n", "a");
    const text = fc.array(spaces, { maxLength: 8 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (line) => {
        expect(plainText(line, 100)).toBe(line.replace(/\s+/g, " ").trim());
      }),
      { numRuns: 2_000 },
    );
  });

  test("long text is cut at a word, and hostile text is cut before it costs time", () => {
    expect(plainText("four words are here", 12)).toBe("four words…");
    expect([...plainText("🎈".repeat(50), 10)]).toHaveLength(10);
    // Starting again at each of these would take minutes, beyond the time of a test.
    for (const piece of ["<", "<a", "<!--", "<script>", "&#", "<b><"]) {
      expect([...textOfHtml(piece.repeat(1_000_000), 1_000)].length).toBeLessThanOrEqual(1_000);
    }
  });
});

test("tags nested to any depth are removed, in no more time than other text takes", () => {
  const nested = `${"<!--".repeat(300)}${"<".repeat(900)}${"b>".repeat(900)}`;
  // One more pass for each level would take minutes, beyond the time of a test.
  for (let count = 0; count < 100; count += 1) {
    expect(textOfHtml(nested, 1_000)).not.toMatch(/<[a-z][^<>]*>/);
  }
});

test("cleaning takes linear time, whichever end hostile text lacks", () => {
  // With a time that grows by the square of these lengths, the test would time out.
  const length = 4_000_000;
  for (const piece of [
    "<script",
    "<script>",
    "<svg><style>",
    "<!--",
    "<!doctype ",
    "<!doctype html <!-- <template>",
    "</script   ",
    "<script>x</script <style>",
    "<a ",
    "< <",
    "&#x",
    "&amp",
    " \t",
  ]) {
    const html = piece.repeat(Math.ceil(length / piece.length));
    expect(textOfHtml(html, length).length).toBeLessThanOrEqual(html.length);
    expect(plainText(html, length).length).toBeLessThanOrEqual(html.length);
  }
});

test("a hidden element or a comment is removed up to its own end, and stays without an end", () => {
  for (const [html, text] of [
    ["a<script>x</style>y</script >b", "a b"],
    ["a<SCRIPT src='x'>y</Script>b<script>c", "a b c"],
    ["a<!-- x <script> --> b </script>", "a b"],
    ["a<!--> b", "a<!--> b"],
    ["a<!doctype html>b<!doctype c", "a b<!doctype c"],
  ] as const) {
    expect(textOfHtml(html, 200)).toBe(text);
  }
});

describe("pageUrl()", () => {
  test("http and https only, without credentials, of limited length", () => {
    for (const good of ["https://a.example/x?y#z", "http://bücher.example/", "HTTPS://A.EXAMPLE"]) {
      expect(pageUrl(good)).not.toBeNull();
    }
    for (const bad of [
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "ftp://a.example/",
      "//a.example/",
      "https://user@a.example/",
      "https://",
      `https://a.example/${"x".repeat(2_048)}`,
      "",
      null,
      7,
    ]) {
      expect(pageUrl(bad)).toBeNull();
    }
  });

  test("a URL that is not parsed equals the result of parsing it", () => {
    const part = (...texts: readonly string[]) => fc.constantFrom(...texts);
    const scheme = part("http://", "https://", "HTTPS://", "ftp://");
    const names = part(
      "a-b.example",
      "xn--bcher-kva.example",
      "xn--a.example",
      "A.example",
      "a..b",
      "a..b.example",
      "a--b.example",
      "a-.example",
      "-a.example",
      "a.b-cd",
      "a.b-c1",
      "a.1-cd",
    );
    const addresses = part("1.2.3.4", "0x7f.1", "a.0x7f", "[::1]", "a", "", "user@a.example");
    const plain = part("/", "/x", "/x.html", "?", "&=+~!$(*),;:@");
    const odd = part(
      ":443",
      "//",
      "/.",
      "/..",
      "%2e",
      "é",
      "'",
      '"',
      "<",
      "|",
      "^",
      "\\",
      "\t",
      "#",
    );
    const path = fc.oneof(plain, odd, fc.string({ unit: "grapheme", maxLength: 3 }));
    const rest = fc.array(path, { maxLength: 5 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(scheme, fc.oneof(names, addresses), rest, (...texts) => {
        const url = texts.join("");
        const parsed = pageUrl(url);
        const page = pageAt(url);
        expect(page && [page.href, page.hostname]).toEqual(
          parsed && [parsed.href, parsed.hostname],
        );
      }),
      { numRuns: 20_000 },
    );
    expect(pageAt("https://www.a.example/x.html?q=1")).not.toBeInstanceOf(URL);
  });

  test("a result without a title is named by its host", () => {
    const found = { title: "<b></b>", url: "https://www.a.example/x", snippet: null, score: "NaN" };
    const candidate = candidateOf(found);
    expect(cleanResults(candidate ? [candidate] : [], NOW_MS, "html")).toMatchObject([
      { title: "a.example", snippet: "", score: null, position: 1 },
    ]);
  });
});

test("a result has the day of its last change beside that of its publication", () => {
  const candidate = candidateOf({
    title: "A page",
    url: "https://a.example/x",
    snippet: "",
    date: "2026-03-05",
    lastUpdated: "2026-03-06T10:00:00Z",
  });
  expect(cleanResults(candidate ? [candidate] : [], NOW_MS, "html")).toMatchObject([
    { date: "2026-03-05", last_updated: "2026-03-06" },
  ]);
});

test("isAllowed() knows a host by its name with and without the dot of the root", () => {
  const page = { hostname: "docs.evil.example." };
  const none = { includeDomains: [], excludeDomains: [] };
  expect(isAllowed(page, { ...none, excludeDomains: ["evil.example"] })).toBe(false);
  expect(isAllowed(page, { ...none, includeDomains: ["evil.example"] })).toBe(true);
});

describe("dayOf()", () => {
  for (const [text, day] of [
    ["2026-03-05", "2026-03-05"],
    ["2026-03-05T23:59:59", "2026-03-05"],
    ["2026-03-05T00:30:00+02:00", "2026-03-05"],
    ["Mar 5, 2026", "2026-03-05"],
    ["5 March 2026", "2026-03-05"],
    ["Thu, 05 Mar 2026 09:30:00 GMT", "2026-03-05"],
    ["3 days ago", "2026-11-18"],
    ["1 hour ago", "2026-11-21"],
    ["2 weeks ago", "2026-11-07"],
    ["2024-02-29", "2024-02-29"],
    ["2026-02-29", null],
    ["2026-02-30", null],
    ["1900-01-01", "1900-01-01"],
    ["1899-12-31", null],
    ["0001-01-01", null],
    ["2027-01-01", null],
    ["yesterday", null],
    ["Mar 5", null],
    ["Part 5", null],
    ["-1", null],
    ["٢٠٢٦-01-01", null],
    ["", null],
    ["x".repeat(10_000), null],
    [20260305, null],
  ] as const) {
    test(`${String(text).slice(0, 40)}`, () => expect(dayOf(text, NOW_MS)).toBe(day));
  }

  test("freshness is a span before now", () => {
    expect(freshSince("day", NOW_MS).toISOString()).toBe("2026-11-20T12:00:00.000Z");
    expect(freshSince("year", NOW_MS).toISOString()).toBe("2025-11-20T12:00:00.000Z");
  });
});

test("pageTextOf() returns the visible text, whatever the markup", () => {
  const html = `<!doctype html><html lang=en-GB><title>A &amp; B</title>
    <meta name=description content="What it is"><meta property="article:published_time"
    content="2026-03-05T10:00:00Z"><script>var x = "<p>no</p>"</script><nav>Menu</nav>
    <body><h1>Head</h1><p>One <b>two</b>three<p>four<style>p{}</style><svg><text>no</text></svg>`;
  expect(pageTextOf(html)).toEqual({
    title: "A & B",
    text: "What it is Head One twothree four",
    language: "en-GB",
    date: "2026-03-05T10:00:00Z",
  });
  expect(pageTextOf("<p>One<svg viewBox='0 0 1 1'/>two<math><svg/></math>").text).toBe("Onetwo");
  expect(pageTextOf("no markup at all").text).toBe("no markup at all");
  expect(pageTextOf("<p".repeat(10_000)).title).toBe("");
});

test("isPublic() knows this machine and its network in every notation", () => {
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "fd00::1",
    "fe80::1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "::ffff:8.8.8.8",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "2002:7f00:1::",
    "100::1",
    "5f00::1",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "192.88.99.1",
    "255.255.255.255",
    "240.0.0.1",
    "1.1",
    "0x7f.1",
    "nonsense",
  ]) {
    expect([address, isPublic(address)]).toEqual([address, false]);
  }
  for (const address of ["93.184.216.34", "2606:2800:220:1::1", "172.32.0.1"]) {
    expect([address, isPublic(address)]).toEqual([address, true]);
  }
});
