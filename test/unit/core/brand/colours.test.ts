import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_BRAND } from "../../../../src/core/brand/brand.ts";
import {
  type Colour,
  contrast,
  faintPair,
  SURFACES,
  shadesOf,
  textOn,
  tintOf,
} from "../../../../src/core/brand/colours.ts";

const TOKENS = join(import.meta.dir, "../../../../dashboard/src/styles/tokens.css");

test("contrast is that of WCAG 2.2", () => {
  expect(contrast("#000000", "#ffffff")).toBe(21);
  expect(contrast("#ffffff", "#ffffff")).toBe(1);
  // The grey that is known as the lightest with enough contrast on white.
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
});

test("our own accent is readable everywhere", () => {
  expect(faintPair(DEFAULT_BRAND.accent, "light")).toBeNull();
  expect(faintPair(DEFAULT_BRAND.accent, "dark")).toBeNull();
});

test("a faint accent is refused with the pair and its ratio", () => {
  const accent = { light: "#e0a000", dark: "#304050" } as const;
  expect(faintPair(accent, "light")).toBe(
    "#e0a000 on the light ground #f7f7f4 has a contrast of 2.12 to 1, but needs 4.5 to 1",
  );
  expect(faintPair(accent, "dark")).toContain("#304050 on the dark ground #101316");
  // This green is readable as a link, but not as the ground of a button's text.
  const button = { light: "#0b6b50", dark: "#20a460" } as const;
  expect(faintPair(button, "dark")).toMatch(/^the text #ffffff of a button on #20a460 has/);
});

test("every colour that is accepted is readable on all grounds, and under a button's text", () => {
  let accepted = 0;
  for (let value = 0; value < 0xffffff; value += 4_099) {
    const colour: Colour = `#${value.toString(16).padStart(6, "0")}`;
    const accent = { light: colour, dark: colour };
    for (const scheme of ["light", "dark"] as const) {
      if (faintPair(accent, scheme) !== null) continue;
      accepted += 1;
      for (const surface of [...Object.values(SURFACES[scheme]), tintOf(accent, scheme)]) {
        expect(contrast(colour, surface)).toBeGreaterThanOrEqual(4.5);
      }
      expect(contrast(colour, textOn(colour))).toBeGreaterThanOrEqual(4.5);
    }
  }
  expect(accepted).toBeGreaterThan(500);
});

test("the checked grounds are those of the pages", () => {
  const css = readFileSync(TOKENS, "utf8");
  const [light = "", dark = ""] = css.split("@media screen");
  for (const [text, surfaces] of [
    [light, SURFACES.light],
    [dark, SURFACES.dark],
  ] as const) {
    for (const [name, colour] of Object.entries(surfaces)) {
      expect(text).toContain(`--fb-${name}: ${colour};`);
    }
  }
});

test("the shades have the accents where the component library looks for them", () => {
  const shades = shadesOf({ light: "#112233", dark: "#aabbcc" });
  expect(shades).toHaveLength(10);
  expect([shades[4], shades[8]]).toEqual(["#aabbcc", "#112233"]);
});
