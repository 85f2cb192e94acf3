// Tests the settings of single sign-on: all of them or none, and no provider without TLS.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { loadServerConfig } from "../../../src/settings/config.ts";

const STORES = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
  KEY_PEPPER: "a pepper that is long enough",
  IP_HASH_SECRET: "a secret that is long enough",
  SESSION_SECRET: "a session secret that is long enough",
};
const WHOLE = {
  OPERATOR_OIDC_ISSUER: "https://login.example.com/realms/ops",
  OPERATOR_OIDC_CLIENT_ID: "farebox",
  OPERATOR_OIDC_CLIENT_SECRET: "s3cret",
};

const load = (env: Record<string, string>) => loadServerConfig(0, { ...STORES, ...env });

test("without them single sign-on is off, and with them it is as they say", () => {
  expect(load({}).console?.sso).toBeNull();
  expect(load(WHOLE).console?.sso).toEqual({
    issuer: WHOLE.OPERATOR_OIDC_ISSUER,
    clientId: "farebox",
    clientSecret: "s3cret",
    group: null,
    acr: null,
    isRequired: false,
  });
  const more = {
    OPERATOR_OIDC_ONLY: "true",
    OPERATOR_OIDC_GROUP: "ops",
    OPERATOR_OIDC_ACR: "gold",
  };
  expect(load({ ...WHOLE, ...more }).console?.sso).toMatchObject({
    group: "ops",
    acr: "gold",
    isRequired: true,
  });
});

test.each(Object.keys(WHOLE))("without %s alone the process does not start", (name) => {
  expect(() => load({ ...WHOLE, [name]: "" })).toThrow(
    new RegExp(`^${name} is not set; OPERATOR_OIDC_\\w+ needs it$`),
  );
});

test.each([
  ["OPERATOR_OIDC_ONLY", "true"],
  ["OPERATOR_OIDC_GROUP", "ops"],
  ["OPERATOR_OIDC_ACR", "gold"],
])("%s alone is refused, so that it is not believed to protect anything", (name, value) => {
  expect(() => load({ [name]: value })).toThrow(`are not set; ${name} needs it`);
});

test("the issuer needs TLS unless it is on this machine, and is only an address", () => {
  const issuer = (address: string) => () => load({ ...WHOLE, OPERATOR_OIDC_ISSUER: address });
  expect(issuer("http://login.example.com")).toThrow("must begin with https://");
  expect(issuer("https://login.example.com?tenant=1")).toThrow("OPERATOR_OIDC_ISSUER must be");
  expect(issuer("login.example.com")).toThrow("OPERATOR_OIDC_ISSUER must be");
  expect(issuer("http://127.0.0.1:9000")().console?.sso?.issuer).toBe("http://127.0.0.1:9000/");
});

test("the secret can come from a file, and is in no message", () => {
  const folder = temporaryFolder("farebox-test-sso-");
  const file = join(folder.path, "secret");
  writeFileSync(file, "from a file\n");
  const { OPERATOR_OIDC_CLIENT_SECRET: secret, ...others } = WHOLE;
  const sso = load({ ...others, OPERATOR_OIDC_CLIENT_SECRET_FILE: file }).console?.sso;
  expect(sso?.clientSecret).toBe("from a file");
  const wrong = { ...WHOLE, OPERATOR_OIDC_CLIENT_ID: "" };
  expect(() => load(wrong)).toThrow(expect.not.stringContaining(secret) as unknown as Error);
  folder.remove();
});

test("without a console, settings of single sign-on are refused", () => {
  expect(() => load({ ...WHOLE, SESSION_SECRET: "" })).toThrow(
    "SESSION_SECRET is not set; OPERATOR_OIDC_ISSUER needs it",
  );
});
