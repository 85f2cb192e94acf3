import { expect, test } from "bun:test";
import { loadPaymentConfig } from "../../../src/settings/config.ts";
import { ConfigError } from "../../../src/settings/environment.ts";

const STRIPE = {
  STRIPE_SECRET_KEY: "sk_test_of_nobody",
  STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef",
  STRIPE_RETURN_URL: "https://example.com/thanks",
};

/** The refusal of these settings. */
function refusal(env: Readonly<Record<string, string>>): string {
  try {
    loadPaymentConfig(env);
    return "accepted";
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

test("without settings there are no payments", () => {
  expect(loadPaymentConfig({})).toBeNull();
});

test("one of the three settings without the others is refused by name", () => {
  for (const missing of Object.keys(STRIPE)) {
    expect(refusal({ ...STRIPE, [missing]: "" })).toStartWith(`${missing} is not set`);
  }
});

test("an empty or short webhook secret is refused, because events could be forged", () => {
  for (const secret of [",", "short", "whsec_0123456789abcdef,", "whsec_0123456789abcdef,short"]) {
    expect(refusal({ ...STRIPE, STRIPE_WEBHOOK_SECRET: secret })).toContain("16 characters");
  }
});

test("during a roll the current and the previous secret count", () => {
  const both = "whsec_0123456789abcdef,whsec_fedcba9876543210";
  const config = loadPaymentConfig({ ...STRIPE, STRIPE_WEBHOOK_SECRET: both });
  expect(config).toMatchObject({ name: "stripe", webhookSecrets: both.split(","), apiBase: null });
});

test("a key of the sandbox works only with the sandbox of this machine", () => {
  const sandbox = { ...STRIPE, STRIPE_SECRET_KEY: "sk_sandbox_1" };
  expect(refusal(sandbox)).toContain("STRIPE_API_BASE");
  expect(refusal({ ...sandbox, STRIPE_API_BASE: "https://api.example.com" })).toContain("sandbox");
  const local = { ...sandbox, STRIPE_API_BASE: "http://127.0.0.1:8081" };
  expect(loadPaymentConfig(local)?.name).toBe("sandbox");
});

test("addresses must be valid", () => {
  expect(refusal({ ...STRIPE, STRIPE_RETURN_URL: "thanks" })).toContain("STRIPE_RETURN_URL");
  expect(refusal({ ...STRIPE, STRIPE_API_BASE: "file:///etc" })).toContain("STRIPE_API_BASE");
});
