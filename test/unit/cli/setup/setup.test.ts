// Tests `farebox setup` as a person uses it on a terminal, and as a script does: keys are checked
// and not shown, nothing is written before all is right, and a repetition changes only the settings
// that are answered anew.

import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { shared, sharedFolder } from "../../../support/shared.ts";
import { openWorld } from "../../../support/stores/world.ts";
import { KEY, SetupLab, startModelServer, startStripe } from "./setup-lab.ts";

const world = await shared(openWorld());
const ANTHROPIC = "claude-sonnet-4-5";

test("a person answers on a terminal: settings are written, the operator gets a link", async () => {
  using server = startModelServer();
  const lab = new SetupLab(sharedFolder("setup-person"), world);
  const { code, output, left } = await lab.person([
    ["Name of the service [none]", "Kettle API"],
    ["customers ask for help [none]", "help@kettle.example"],
    ["Public address", ""],
    ["Providers of models", "opnai"],
    ["Providers of models", "openai-compatible"],
    ["Address of the openai-compatible server", server.baseUrl],
    ["Key of openai-compatible (not shown) [none]", "sk-wrong-0123456789"],
    ["Address of the openai-compatible server", server.baseUrl],
    ["Key of openai-compatible (not shown) [none]", KEY],
    ["Secret key (not shown) [none]", ""],
    ["Mail server", ""],
    ["as the first operator [none]", "ada@kettle.example"],
  ]);
  expect([left, output]).toEqual([[], expect.stringContaining("Left to do")]);
  expect(code).toBe(0);
  expect(output).toContain("must be of openai-compatible, anthropic");
  expect(output).toContain("The server refuses the key (401)");
  expect(output).toContain("openai-compatible takes the key and has 3 models");
  expect(output).toMatch(/This link signs ada@kettle\.example in once.*\n.*http:\/\/127/);
  expect(output).toContain("farebox setup mail");
  expect(output).toContain(
    "- Write the models to sell, and their prices, into farebox.config.json",
  );
  for (const key of [KEY, "sk-wrong"]) expect(output).not.toContain(key);
  expect(lab.configuration()).toEqual({
    providers: {
      "openai-compatible": {
        base_url: server.baseUrl,
        provider: "openai-compatible",
        api_key_env: "OPENAI_COMPATIBLE_API_KEY",
      },
    },
    models: [],
    brand: { name: "Kettle API", support_email: "help@kettle.example" },
  });
  expect(lab.text("settings.env")).toBe(`OPENAI_COMPATIBLE_API_KEY='${KEY}'\n`);
  expect(lab.mode("settings.env")).toBe(0o600);
  const [row] = await world.database.sql`
    SELECT is_operator FROM people WHERE email = 'ada@kettle.example'`;
  expect(row).toMatchObject({ is_operator: true });

  // The second time, Enter keeps everything, and each key is checked again.
  const before = [lab.text("farebox.config.json"), lab.text("settings.env")];
  const again = await lab.person([
    ["Name of the service [Kettle API]", ""],
    ["for help [help@kettle.example]", ""],
    ["Public address", ""],
    ["with commas between [openai-compatible]", ""],
    ["Address of the openai-compatible server", ""],
    ["(not shown) [as it is set]", ""],
    ["Secret key (not shown) [none]", ""],
    ["Mail server", ""],
    ["one more operator [none]", ""],
  ]);
  expect([again.left, again.code]).toEqual([[], 0]);
  expect(again.output).toContain("Nothing was changed.");
  expect([lab.text("farebox.config.json"), lab.text("settings.env")]).toEqual(before);
  expect(server.paths).toEqual(["/v1/models", "/v1/models"]);
});

test("a script names the address and the first operator at once", async () => {
  const lab = new SetupLab(sharedFolder("setup-address"), world);
  const { code, out, err } = await lab.script([], {
    CONSOLE_URL: "",
    FAREBOX_SETUP_CONSOLE_URL: "https://kettle.example",
    FAREBOX_SETUP_OPERATOR_EMAIL: "grace@kettle.example",
  });
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(
    /This link signs grace@kettle\.example in once.*\n.*https:\/\/kettle\.example\//,
  );
});

test("a person who presses Ctrl-C has changed nothing", async () => {
  const lab = new SetupLab(sharedFolder("setup-ctrl-c"), world);
  const { code, output } = await lab.person([
    ["Name of the service", "Kettle API"],
    ["customers ask for help", null],
  ]);
  expect(code).toBe(130);
  expect(output).toContain("Nothing was changed.");
  expect(readdirSync(lab.folder)).toEqual([]);
});

test("a script gives answers by file and environment, and sells at listed prices", async () => {
  using server = startModelServer();
  const lab = new SetupLab(sharedFolder("setup-script"), null);
  const comment = "// Written by hand.";
  lab.write(
    "farebox.config.json",
    `${comment}\n{"providers": {"anthropic": {"base_url": "${server.baseUrl}"}}, "models": []}`,
  );
  const page = await Bun.file("docs/first-hour.md").text();
  const [, example = ""] = /```json\n([^`]*brand_name[^`]*)```/.exec(page) ?? [];
  const answers = lab.write("answers.json", example);
  lab.write("key", `${KEY}\n`);
  const args = ["--answers", answers, "--env-file", "farebox.env", "--json"];
  const ofFile = { FAREBOX_SETUP_ANTHROPIC_KEY_FILE: lab.path("key") };
  const { code, out, err } = await lab.script(args, ofFile);
  expect([code, err]).toEqual([0, ""]);
  expect(JSON.parse(out)).toMatchObject({
    variables: ["ANTHROPIC_API_KEY"],
    operator: null,
    left_to_do: expect.arrayContaining([
      "Start it: npm start",
      "Make an operator: farebox operator invite ADDRESS",
      expect.stringContaining("Give all processes the variables of farebox.env"),
    ]),
  });
  expect(out).not.toContain(KEY);
  expect(lab.text("farebox.config.json")).toStartWith(comment);
  const { models, brand, providers } = lab.configuration();
  expect(brand).toEqual({ name: "Kettle", support_email: "help@kettle.example" });
  expect(providers.anthropic).toMatchObject({ provider: "anthropic", markup_percent: "12.5" });
  // The list has $3 and $15; with 12.5 % these are sold.
  expect(models).toMatchObject([
    {
      id: ANTHROPIC,
      routes: [{ provider: "anthropic", model: ANTHROPIC }],
    },
  ]);
  expect(models[0].prices[0]).toMatchObject({ input_usd_per_m: "3.375" });

  // Only the part that is named is asked about, and nothing else changes.
  const before = lab.configuration();
  const second = lab.write("second.json", { support_email: "team@kettle.example" });
  const secondArgs = ["brand", "--answers", second, "--env-file", "farebox.env"];
  expect(await lab.script(secondArgs)).toMatchObject({ code: 0, err: "" });
  expect(lab.configuration()).toEqual({
    ...before,
    brand: { name: "Kettle", support_email: "team@kettle.example" },
  });
  expect(lab.text("farebox.env")).toBe(`ANTHROPIC_API_KEY='${KEY}'\n`);
});

test("the keys of Stripe are checked with one call, and stand in the file of secrets", async () => {
  const lab = new SetupLab(sharedFolder("setup-stripe"), null);
  const key = "sk_test_0123456789abcdef";
  using stripe = startStripe(key);
  const secrets = {
    FAREBOX_SETUP_STRIPE_WEBHOOK_SECRET: "whsec_of_a_test_0123",
    STRIPE_API_BASE: stripe.url,
  };
  const wrong = { ...secrets, FAREBOX_SETUP_STRIPE_SECRET_KEY: "sk_test_another" };
  const refused = await lab.script(["payments"], wrong);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("stripe_secret_key: Stripe: ");
  expect(refused.err).toContain("Nothing was changed");
  expect(lab.text("settings.env")).toBe("");
  const right = { ...secrets, FAREBOX_SETUP_STRIPE_SECRET_KEY: key };
  const { code, out, err } = await lab.script(["payments"], right);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("Stripe takes the key");
  expect(out).toContain("events sent to http://127.0.0.1:8080/webhooks/stripe");
  expect(out).toContain("- For invoices with address and tax id set STRIPE_INVOICES=true");
  const decided = await lab.script(["payments"], { ...right, STRIPE_INVOICES: "false" });
  expect(decided.out).toContain("events sent to");
  expect(decided.out).not.toContain("STRIPE_INVOICES");
  expect(lab.text("settings.env")).toBe(
    `STRIPE_SECRET_KEY='${key}'\nSTRIPE_WEBHOOK_SECRET='whsec_of_a_test_0123'\n` +
      "STRIPE_RETURN_URL='http://127.0.0.1:8080/dashboard/billing'\n",
  );
});

test.each([
  ["https://kettle.example", "with a public address no sandbox starts"],
  ["http://127.0.0.1:8080", "the sandbox of npm start plays Stripe"],
])("with the address %s and no key of Stripe it says who takes payments", async (url, words) => {
  const lab = new SetupLab(sharedFolder("setup-payments"), null);
  const answers = lab.write("answers.json", { console_url: url });
  const args = ["address", "--answers", answers, "--env-file", "farebox.env", "--json"];
  const { left_to_do: left } = JSON.parse((await lab.script(args)).out);
  expect(left).toContainEqual(expect.stringContaining(words));
});

test.each([
  [{ providers: "anthropic" }, "anthropic_key: is needed"],
  [{ providers: "nobody" }, "providers must be of openai-compatible"],
  [{ provider: "anthropic" }, "'provider' answers no question"],
  [{ brand_name: " x\u0007 " }, "brand_name is refused: brand.name"],
  [{ console_url: "kettle.example" }, "console_url must be"],
  [{ console_url: "http://kettle.example" }, "console_url must begin with https:// unless"],
  [{ operator_email: "ada@kettle.example" }, "operator_email: needs Redis and Postgres"],
  [{ stripe_secret_key: "sk_test_1" }, "stripe_webhook_secret: is needed with the key"],
  [{ mail_smtp_url: "smtp://127.0.0.1:1", mail_domain: "k.example" }, "mail_smtp_url: 127.0.0.1"],
  [{ mail_smtp_url: "smtp://h'x@127.0.0.1:1" }, "mail_smtp_url must be one line without '"],
])(
  "the answers %j are refused by their field, and nothing is written",
  async (answers, problem) => {
    const lab = new SetupLab(sharedFolder("setup-refused"), null);
    const path = lab.write("answers.json", answers);
    const { code, err } = await lab.script(["--answers", path, "--env-file", "farebox.env"]);
    expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
    expect(existsSync(lab.path("farebox.config.json"))).toBe(false);
    expect(existsSync(lab.path("farebox.env"))).toBe(false);
  },
);
