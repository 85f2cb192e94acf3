// Tests `farebox setup` where a server that is set does not answer: a setting that nobody changed
// stays, and stops neither a person nor a script, but the exit code and the last lines say it.

import { expect, test } from "bun:test";
import { sharedFolder } from "../../../support/shared.ts";
import { SetupLab } from "./setup-lab.ts";

const AWAY = "http://127.0.0.1:1";
const SETTINGS = [
  "OPENAI_COMPATIBLE_API_KEY='sk-kept-0123456789'",
  "STRIPE_SECRET_KEY='sk_test_0123456789abcdef'",
  "STRIPE_WEBHOOK_SECRET='whsec_of_a_test_0123'",
  "STRIPE_RETURN_URL='http://127.0.0.1:8080'",
  `STRIPE_API_BASE='${AWAY}'`,
  "MAIL_SMTP_URL='smtp://127.0.0.1:1'",
  "MAIL_DOMAIN='kettle.example'",
].join("\n");

/** An installation whose provider, Stripe and mail server are away. */
function openLab(name: string): SetupLab {
  const lab = new SetupLab(sharedFolder(name), null);
  const server = {
    base_url: `${AWAY}/v1`,
    provider: "openai-compatible",
    api_key_env: "OPENAI_COMPATIBLE_API_KEY",
    markup_percent: "20",
  };
  const brand = { name: "Old" };
  lab.write("farebox.config.json", {
    providers: { "openai-compatible": server },
    models: [],
    brand,
  });
  lab.write("settings.env", `${SETTINGS}\n`);
  return lab;
}

const LAST_LINES =
  /not work, and stays as it was:\n- openai-compatible: .*\n- Stripe: .*\n- 127\.0\.0\.1: .*\n$/;

test("a script that changes only the brand is not stopped by servers that are away", async () => {
  const lab = openLab("setup-kept-script");
  const { code, err } = await lab.script([], { FAREBOX_SETUP_BRAND_NAME: "Kettle" });
  expect([code, err]).toEqual([1, expect.stringMatching(LAST_LINES)]);
  expect(lab.configuration().brand).toEqual({ name: "Kettle" });
  expect(lab.text("settings.env")).toBe(`${SETTINGS}\n`);
});

test("a script that changes a key which does not work is refused still", async () => {
  const lab = openLab("setup-changed-key");
  const key = { FAREBOX_SETUP_OPENAI_COMPATIBLE_KEY: "sk-other-0123456789" };
  const { code, err } = await lab.script(["providers"], key);
  expect([code, err]).toEqual([2, expect.stringContaining("Nothing was changed")]);
  expect(lab.text("settings.env")).toBe(`${SETTINGS}\n`);
});

test("a person whose servers are away goes on by keeping the present settings", async () => {
  const lab = openLab("setup-kept-person");
  const { code, output, left } = await lab.person([
    ["Name of the service [Old]", "Kettle"],
    ["customers ask for help", ""],
    ["Public address", ""],
    ["Providers of models", ""],
    ["Address of the openai-compatible server", ""],
    ["(not shown) [as it is set]", ""],
    ["Secret key (not shown)", ""],
    ["Signing secret", ""],
    ["come back to", ""],
    ["Mail server", ""],
    ["Domain that mail", ""],
  ]);
  expect([left, code]).toEqual([[], 1]);
  expect(output).toMatch(LAST_LINES);
  expect(lab.configuration().brand).toEqual({ name: "Kettle" });
});
