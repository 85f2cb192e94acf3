import { expect, test } from "bun:test";
import { loadStoreConfig } from "../../../src/settings/config.ts";
import { ConfigError } from "../../../src/settings/environment.ts";

const STORES = { REDIS_URL: "redis://127.0.0.1:1", DATABASE_URL: "postgres://127.0.0.1:1/none" };
const [CURRENT, PREVIOUS] = ["the current secret", "the previous secret"];

const secretsOf = (pepper: string, ipHash = CURRENT) =>
  loadStoreConfig({ ...STORES, KEY_PEPPER: pepper, IP_HASH_SECRET: ipHash }).secrets;

test("a secret is one text or a list, the current one first", () => {
  expect(secretsOf(CURRENT)).toEqual({ KEY_PEPPER: [CURRENT], IP_HASH_SECRET: [CURRENT] });
  expect(secretsOf(`${CURRENT},${PREVIOUS}`, `${PREVIOUS},${CURRENT}`)).toEqual({
    KEY_PEPPER: [CURRENT, PREVIOUS],
    IP_HASH_SECRET: [PREVIOUS, CURRENT],
  });
});

test("identifiers have a secret without one being set, and one that is set comes first", () => {
  const load = (more: object) =>
    loadStoreConfig({ ...STORES, KEY_PEPPER: CURRENT, IP_HASH_SECRET: CURRENT, ...more });
  const [derived = "", ...others] = load({}).safetyIdSecrets;
  expect(derived).toMatch(/^[0-9a-f]{64}$/);
  expect(others).toEqual([]);
  const { safetyIdSecrets } = load({ SAFETY_ID_SECRET: `${CURRENT},${PREVIOUS}` });
  expect(safetyIdSecrets).toEqual([CURRENT, PREVIOUS, derived]);
});

test.each([
  ["short", "KEY_PEPPER must have at least 16 characters"],
  [`${CURRENT},`, "KEY_PEPPER must have at least 16 characters in each secret of its list"],
  [`,${CURRENT}`, "KEY_PEPPER must have at least 16 characters in each secret of its list"],
  ["", "KEY_PEPPER is not set"],
])("'%s' is refused by the variable's name, and is not repeated", (pepper, words) => {
  const failure = (() => {
    try {
      return secretsOf(pepper);
    } catch (error) {
      return error;
    }
  })();
  expect(failure).toBeInstanceOf(ConfigError);
  expect(String(failure)).toContain(words);
  expect(String(failure)).not.toContain(CURRENT);
});
