// Tests the brand in the configuration file, and its refusals by line.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { configurationChanges } from "../../../src/settings/catalogue-changes.ts";
import { CatalogueError, parseCatalogue } from "../../../src/settings/catalogue-file.ts";

const LOGO = '<svg viewBox="0 0 8 8"><path d="M0 0h8v8z" fill="#123456"/></svg>';

const textOf = (brand: object) => JSON.stringify({ providers: {}, models: [], brand }, null, 1);

function refusal(brand: object): string {
  try {
    parseCatalogue(textOf(brand), {});
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error("The file was not refused");
}

test("a file without a brand has ours, and one with a name alone has our look", () => {
  expect(parseCatalogue('{"providers": {}, "models": []}', {}).brand).toBe(DEFAULT_BRAND);
  const { brand } = parseCatalogue(textOf({ name: "Acme" }), {});
  expect(brand).toEqual({
    ...DEFAULT_BRAND,
    name: "Acme",
    senderName: "Acme",
    docs: "customers",
  });
});

test("every field is read", () => {
  const { brand } = parseCatalogue(
    textOf({
      name: "Acme AI",
      about: "Everything behind one key.",
      sender_name: "Acme",
      logo_svg: LOGO,
      accent: { light: "#7A1F5C", dark: "#E58FC4" },
      support_email: "help@acme.example",
      imprint_url: "https://acme.example/imprint",
      terms_url: "https://acme.example/terms",
      privacy_url: "https://acme.example/privacy",
      links: [{ label: "Status", url: "https://status.acme.example" }],
      front_page: false,
      search_engines: false,
      docs: "all",
    }),
    {},
  );
  expect(brand).toMatchObject({
    name: "Acme AI",
    about: "Everything behind one key.",
    senderName: "Acme",
    accent: { light: "#7a1f5c", dark: "#e58fc4" },
    supportEmail: "help@acme.example",
    hasFrontPage: false,
    isListed: false,
    docs: "all",
  });
  expect(brand.logo?.svg).toContain('fill="#123456"');
  expect(brand.links.map(({ label, url }) => `${label} ${url}`)).toEqual([
    "Terms https://acme.example/terms",
    "Privacy https://acme.example/privacy",
    "Imprint https://acme.example/imprint",
    "Status https://status.acme.example/",
  ]);
});

test("a fault is refused with its line, its field and the reason", () => {
  const name = "Acme";
  for (const [brand, words] of [
    [{}, "brand.name is missing"],
    [{ name: "" }, "line 5: brand.name must be one line of 1 to 40 characters"],
    [{ name: " Acme" }, "brand.name must be one line of 1 to 40 characters, without spaces"],
    [{ name: "a\nb" }, "brand.name must be one line"],
    [{ name, colour: "red" }, "brand.colour is not allowed here"],
    [{ name, accent: { light: "green", dark: "#39b58a" } }, "must be a colour such as #0b6b50"],
    [
      { name, accent: { light: "#39b58a", dark: "#39b58a" } },
      "line 7: brand.accent.light is hard to read: #39b58a on the light ground #f7f7f4 has a " +
        "contrast of 2.40 to 1, but needs 4.5 to 1",
    ],
    [{ name, logo_svg: "<svg viewBox='0 0 1 1'><script/></svg>" }, "must not have a <script>"],
    [{ name, logo_svg: "x".repeat(20_000) }, "must be an SVG picture of at most 16384"],
    [{ name, support_email: "acme.example" }, "brand.support_email has no '@'"],
    [{ name, terms_url: "javascript:alert(1)" }, "brand.terms_url must be an http or https URL"],
    [{ name, terms_url: "https://a:b@acme.example" }, "brand.terms_url must hold no credentials"],
    [{ name, links: [{ label: "a", url: "//x" }] }, "brand.links[0].url must be an http"],
    [{ name, links: Array.from({ length: 9 }, () => ({})) }, "at most 8 links"],
    [{ name, docs: "none" }, "brand.docs must be one of all, customers"],
    [{ name, front_page: "no" }, "brand.front_page must be true or false"],
  ] as const) {
    expect(refusal(brand)).toContain(words);
  }
});

test("the example of docs/brand.md is a good file", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../../docs/brand.md")).text();
  const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(parseCatalogue(example, {}).brand.name).toBe("Acme AI");
});

test("a change of the brand is in the list of changes", () => {
  const changes = configurationChanges("file", {});
  const before = { version: 1, text: textOf({ name: "Acme" }) };
  expect(changes(before, textOf({ name: "Acme AI" }))).toEqual(["brand: changed"]);
  expect(changes(before, textOf({ name: "Acme" }))).toEqual([]);
});

test("an address of a link is bounded, as it is given and as pages write it", () => {
  const most = `https://acme.example/${"a".repeat(200 - "https://acme.example/".length)}`;
  const { brand } = parseCatalogue(textOf({ name: "Acme", terms_url: most }), {});
  expect(brand.links).toEqual([{ label: "Terms", url: most }]);
  const bound = "must be an http or https URL of at most 200 characters";
  expect(refusal({ name: "Acme", imprint_url: `${most}a` })).toContain(
    `brand.imprint_url ${bound}`,
  );
  const links = [{ label: "Status", url: `https://acme.example/${"ä".repeat(60)}` }];
  expect(refusal({ name: "Acme", links })).toContain(`brand.links[0].url ${bound}, but is written`);
});
