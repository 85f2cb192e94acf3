// Tests the name that an authenticator shows.

import { expect, test } from "bun:test";
import { type Brand, DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { shared } from "../../support/shared.ts";
import { PASSWORD, PeopleLab } from "./people-lab.ts";

let brand: Brand = DEFAULT_BRAND;
const lab = await shared(PeopleLab.start({ config: { brand: () => brand } }));
const ada = await lab.person("ada@example.com");

test("an authenticator shows the brand of the moment", async () => {
  for (const name of ["Acme", "Acme AI"]) {
    brand = { ...DEFAULT_BRAND, name };
    const begun = await ada.auth("/two-factor/enable", { password: PASSWORD });
    expect(new URL(begun.body.totpURI).searchParams.get("issuer")).toBe(name);
  }
});
