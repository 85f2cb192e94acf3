// Tests each convenience of development, and each setting that makes an installation reachable from
// other machines.

import { afterEach, describe, expect, test } from "bun:test";
import { consoleSettings } from "../../../scripts/local/console.mjs";
import { releasePorts } from "../../../scripts/local/ports.mjs";
import { planSandbox } from "../../../scripts/local/sandbox.mjs";
import { warningsOf } from "../../../scripts/local/welcome.mjs";
import { loadServerConfig } from "../../../src/settings/config.ts";

const SECRETS = {
  REDIS_URL: "redis://127.0.0.1:1",
  DATABASE_URL: "postgres://127.0.0.1:1/farebox",
  KEY_PEPPER: "a pepper that is long enough",
  IP_HASH_SECRET: "a secret that is long enough",
  SESSION_SECRET: "a session secret that is long enough",
};
const SANDBOX = {
  STRIPE_SECRET_KEY: "sk_sandbox_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1234567890123456",
  STRIPE_RETURN_URL: "http://127.0.0.1:8081/",
  STRIPE_API_BASE: "http://127.0.0.1:8081",
};

/** `named` is the setting that makes it reachable; null if it is not. */
const REACHES: readonly (readonly [string, Record<string, string>, named: string | null])[] = [
  ["nothing is set", {}, null],
  ["HOST is loopback", { HOST: "127.0.0.1" }, null],
  ["HOST is ::1", { HOST: "::1" }, null],
  ["CONSOLE_URL is loopback", { CONSOLE_URL: "http://localhost:8080" }, null],
  ["CONSOLE_URL is loopback by IPv6", { CONSOLE_URL: "http://[::1]:8080" }, null],
  ["CONSOLE_URL is a tunnel's", { CONSOLE_URL: "https://f00.tunnel.example" }, "CONSOLE_URL"],
  ["CONSOLE_URL looks like loopback", { CONSOLE_URL: "https://localhost.example" }, "CONSOLE_URL"],
  ["CONSOLE_URL is private", { CONSOLE_URL: "https://192.168.1.2" }, "CONSOLE_URL"],
  ["HOST is public", { HOST: "0.0.0.0", CONSOLE_URL: "http://localhost:8080" }, "HOST"],
  ["both are public", { HOST: "::", CONSOLE_URL: "https://console.example" }, "HOST"],
];

/** The settings that enable a convenience, and a word of the refusal. */
const CONVENIENCES = [
  ["mailed codes in answers", { CONSOLE_SHOW_MAILS: "true" }, "CONSOLE_SHOW_MAILS"],
  ["payments in the sandbox", SANDBOX, "sandbox"],
] as const;

const problemOf = (env: Record<string, string>) => {
  try {
    loadServerConfig(9_464, { ...SECRETS, ...env });
    return null;
  } catch (error) {
    return String(error);
  }
};

describe.each(REACHES)("where %s", (_, env, named) => {
  afterEach(() => releasePorts());

  test.each(CONVENIENCES)("%s are allowed only as far as settings permit", (_what, asked, word) => {
    const problem = problemOf({ ...env, ...asked });
    if (named === null) expect(problem).toBeNull();
    else expect(problem).toMatch(new RegExp(`${word}.*development on this machine: ${named} is`));
    expect(problemOf(env)).toBeNull();
  });

  test("npm start offers them only to this machine", async () => {
    const { CONSOLE_SHOW_MAILS } = consoleSettings(env, SECRETS);
    expect(CONSOLE_SHOW_MAILS).toBe(String(named === null));
    const options = { home: "/nowhere", baseUrl: "http://127.0.0.1:20800", port: 20_800 };
    expect((await planSandbox({ ...options, given: env })) !== null).toBe(named === null);
  });
});

test("a start with a convenience of development reports it; one without is silent", () => {
  const start = (env: Record<string, string>) =>
    loadServerConfig(9_464, { ...SECRETS, ...env }).warnings;
  expect(start({})).toEqual([]);
  expect(start({ CONSOLE_SHOW_MAILS: "true" }).join()).toMatch(/^DEVELOPMENT.*mailed codes/);
  expect(start(SANDBOX).join()).toMatch(/^DEVELOPMENT.*test cards/);
  expect(warningsOf({}, null)).toEqual([]);
  expect(warningsOf({ CONSOLE_SHOW_MAILS: "true" }, null).join()).toContain("CONSOLE_URL");
  expect(warningsOf({}, "http://127.0.0.1:8081").join()).toContain("test cards");
});

test("a start that checks no certificates warns loudly", () => {
  const unchecked = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  const { warnings } = loadServerConfig(9_464, { ...SECRETS, ...unchecked });
  expect(warnings.join()).toMatch(/NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked/);
  expect(warningsOf(unchecked, null).join()).toContain("NODE_TLS_REJECT_UNAUTHORIZED");
  const checked = loadServerConfig(9_464, { ...SECRETS, NODE_TLS_REJECT_UNAUTHORIZED: "1" });
  expect(checked.warnings).toEqual([]);
});
