import { expect, test } from "bun:test";
import fc from "fast-check";
import { LOGO_BYTES_MAX, readLogo } from "../../../../src/core/brand/logo.ts";

const svg = (inside: string) => `<svg viewBox="0 0 24 24">${inside}</svg>`;

function refusal(text: string): string {
  const logo = readLogo(text);
  return typeof logo === "string" ? logo : `accepted: ${logo.svg}`;
}

test("shapes, gradients, titles, comments and a declaration are read", () => {
  const logo = readLogo(`<?xml version="1.0" encoding="UTF-8"?>
<!-- by hand -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox='0 0 24 24'>
  <title>Acme &amp; Co</title>
  <defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs>
  <g transform="rotate(45)"><path d="M0 0h24v24z" fill="url(#a)"/></g>
</svg>`);
  expect(logo).toMatchObject({
    svg:
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><title>Acme &amp; Co</title>' +
      '<defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs>' +
      '<g transform="rotate(45)"><path d="M0 0h24v24z" fill="url(#a)"/></g></svg>',
  });
});

test("whatever could run, load or hide is refused by its name", () => {
  for (const [text, words] of [
    [svg("<script>alert(1)</script>"), "must not have a <script>"],
    [svg("<SCRIPT>alert(1)</SCRIPT>"), "must not have a <SCRIPT>"],
    [svg('<path onload="alert(1)"/>'), "must not have the attribute 'onload' at <path>"],
    [svg('<a href="https://x.test"><path/></a>'), "must not have a <a>"],
    [svg('<image href="https://x.test/a.png"/>'), "must not have a <image>"],
    [svg('<use href="#a"/>'), "must not have a <use>"],
    [svg("<style>path{fill:url(//x.test)}</style>"), "must not have a <style>"],
    [svg('<path style="fill:red"/>'), "must not have the attribute 'style'"],
    [svg("<foreignObject><p>x</p></foreignObject>"), "must not have a <foreignObject>"],
    [svg('<path fill="url(https://x.test/#a)"/>'), "must not refer outside in the attribute"],
    [svg('<path fill="URL(//x.test)"/>'), "must not refer outside in the attribute 'fill'"],
    [svg('<path fill="&#117;rl(//x.test)"/>'), "must not have the entity '&#117;'"],
    [svg('<path fill="\\75rl(//x.test)"/>'), "must not refer outside"],
    [`<!DOCTYPE svg [<!ENTITY a "b">]>${svg("")}`, "must not have '<!DOCTYPE"],
    [svg("<![CDATA[x]]>"), "must not have '<![CDATA["],
    [svg("<?php x ?>"), "must not have '<?php"],
    [svg("words"), "must not have text outside of a title: 'words'"],
    [svg('<path d="M0" d="M1"/>'), "has the attribute 'd' twice"],
    [svg("<g>"), "has a </svg> that closes nothing"],
    [`${svg("")}${svg("")}`, "must be one <svg> element"],
    ["<svg viewBox='0 0 1 1'>", "must be one whole <svg> element"],
    ["<svg></svg>", "must have a viewBox"],
    ["hello", "must not have text"],
    ["", "must be one whole <svg> element"],
    [svg("<g>".repeat(40) + "</g>".repeat(40)), "is deeper than 32 elements"],
    [svg(`<title>${"x".repeat(LOGO_BYTES_MAX)}</title>`), "must have at most"],
    // Few characters, but many bytes of the picture as it is served.
    [svg(`<title>${"模".repeat(6_000)}</title>`), "must have at most 16384 bytes"],
    [svg(`<title>${'"'.repeat(6_000)}</title>`), "must have at most 16384 bytes"],
    ['<svg viewBox="0 0 1 1" xmlns="https://x.test"/>', "must not refer outside"],
  ] as const) {
    expect(refusal(text)).toContain(words);
  }
});

test("an accepted picture reads as itself, whatever was sent", () => {
  const piece = fc.constantFrom(
    ...'< > / <g> </g> <path d="M0"/> <svg viewBox="0 0 1 1"> </svg> <!-- --> \' " & &lt;'.split(
      " ",
    ),
    "<title>",
    "</title>",
    " x ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const logo = readLogo(svg(pieces.join("")));
      if (typeof logo === "string") return;
      expect(readLogo(logo.svg)).toEqual(logo);
      expect(logo.svg).not.toMatch(/<!|<\?|script/);
    }),
  );
});
