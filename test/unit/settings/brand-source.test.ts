// Tests the brand of processes that read no models.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { BrandSource } from "../../../src/settings/brand-source.ts";
import { sharedFolder } from "../../support/shared.ts";

const folder = sharedFolder("brand-source");

// A worker has no keys of providers, and needs none to know the brand.
const textOf = (brand: object) =>
  JSON.stringify({
    providers: { one: { base_url: "x", api_key_env: "NO_KEY" } },
    models: 1,
    brand,
  });

function source(path: string) {
  const applied: { version: number; text: string }[] = [];
  const errors: string[] = [];
  const brands = new BrandSource({
    applied: {
      inForce: async (known) => {
        const last = applied.at(-1);
        if (last === undefined) return null;
        return { version: last.version, text: last.version === known ? null : last.text };
      },
    },
    path,
    log: { error: (_, message) => errors.push(message) },
  });
  return { brands, applied, errors };
}

test("the brand is ours, then that of the file, then that of the version in force", async () => {
  const path = join(folder, "a.json");
  const { brands, applied, errors } = source(path);
  await brands.look();
  expect(brands.read()).toBe(DEFAULT_BRAND);
  writeFileSync(path, textOf({ name: "File" }));
  await brands.look();
  expect(brands.read().name).toBe("File");
  applied.push({ version: 1, text: textOf({ name: "One" }) });
  await brands.look();
  await brands.look();
  expect(brands.read().name).toBe("One");
  applied.push({ version: 2, text: "{}" });
  await brands.look();
  expect(brands.read()).toBe(DEFAULT_BRAND);
  expect(errors).toEqual([]);
});

test("a wrong brand is logged once, and the one before stays", async () => {
  const { brands, applied, errors } = source(join(folder, "none.json"));
  applied.push({ version: 1, text: textOf({ name: "One" }) });
  await brands.look();
  applied.push({ version: 2, text: textOf({ name: "" }) });
  await brands.look();
  await brands.look();
  expect(brands.read().name).toBe("One");
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain("brand.name must be one line");
  applied.push({ version: 3, text: textOf({ name: "Three" }) });
  await brands.look();
  expect(brands.read().name).toBe("Three");
});
