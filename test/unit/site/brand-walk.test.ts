// Walks the pages and mails of an installation with a brand of its own, and looks for our name.

import { describe, expect, test } from "bun:test";
import { buildDashboard } from "../../../scripts/build-dashboard.ts";
import { type Brand, DEFAULT_BRAND, inBrand, PRODUCT } from "../../../src/core/brand/brand.ts";
import { serviceMail } from "../../../src/core/service-mail.ts";
import { openDashboard } from "../../../src/http/console/dashboard-files.ts";
import { PROGRAM } from "../../../src/routes.ts";
import { createMimeBuilder } from "../../../src/services/mail/providers/mime.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { appAlone } from "../../support/api/app-alone.ts";
import { BROWSER_ACCEPT } from "../../support/api/browser-accept.ts";
import { MODEL } from "../../support/api/models.ts";
import { testDataDirectory } from "../../support/stores/services.ts";
import { readTree } from "../tree/tidy-source.ts";

const ACME = {
  ...DEFAULT_BRAND,
  name: "Acme AI",
  senderName: "Acme",
  accent: { light: "#7a1f5c", dark: "#e58fc4" },
  supportEmail: "help@acme.example",
  links: [{ label: "Terms", url: "https://acme.example/terms?a=1&b=2" }],
  docs: "customers",
} as const;

await buildDashboard(testDataDirectory());
const dashboard = openDashboard(testDataDirectory());

async function read(path: string, brand: Brand = ACME): Promise<string> {
  const catalogue = catalogueOf([MODEL], [], { brand });
  const app = appAlone({ catalogue: () => catalogue, origin: "https://acme.example", dashboard });
  return await (await app.get(path, { accept: BROWSER_ACCEPT })).text();
}

describe("an installation with another brand", () => {
  const files = PROGRAM.filter(({ method, path }) => method === "GET" && !path.includes("{"));

  for (const path of ["/", "/v1/models", ...files.map((one) => one.path)]) {
    test(`says nothing of ours at ${path}`, async () => {
      expect(await read(path)).not.toContain(PRODUCT);
    });
  }

  test("has its name on the pages and in the documents", async () => {
    expect(await read("/")).toContain("<title>Acme AI");
    expect(await read("/openapi.json")).toContain('"title":"Acme AI Gateway API"');
    const page = await read("/dashboard");
    expect(page).toContain("<title>Acme AI</title>");
    expect(page).toContain(":root{--fb-accent:#7a1f5c;");
    expect(page).not.toContain("BRAND_");
  });

  test("cannot break a page by its texts", async () => {
    const name = `"'><script>NONCE BRAND_DATA $& $1`;
    const page = await read("/dashboard", { ...ACME, name });
    expect(page).toContain("<title>&quot;'&gt;&lt;script&gt;NONCE BRAND_DATA $&amp; $1</title>");
    const data = /<meta name="brand" content="([^"]*)">/.exec(page)?.[1] ?? "";
    const json = data.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">");
    expect(JSON.parse(json.replaceAll("&amp;", "&"))).toMatchObject({ name });
  });

  test("sends mails under its name, with its help and legal pages", async () => {
    const { text, html } = serviceMail({ brand: ACME, subject: "Hello", paragraphs: ["A line."] });
    expect(text + html).not.toContain(PRODUCT);
    expect(text).toContain(
      "Questions: help@acme.example\nTerms: https://acme.example/terms?a=1&b=2",
    );
    expect(html).toContain("https://acme.example/terms?a=1&amp;b=2");
    const sent = await createMimeBuilder({ domain: "m.test", brand: () => ACME, dkim: null })({
      id: "msg_0000000000000000000001",
      content: {
        to: ["bob@example.org"],
        subject: "Hi",
        text: "Hi",
        html: null,
        fromName: "Ada",
        replyTo: null,
      },
      sender: "a@m.test",
      accountDomain: "shop.test",
      date: new Date(0),
    });
    expect(sent.toString()).toContain("From: Ada via Acme <a@m.test>");
    expect(sent.toString()).toContain("Sent by shop.test through Acme.");
  });

  test("has our name replaced in our texts, and commands as they are", () => {
    const text = "Farebox's pages; run farebox doctor in Fareboxes.";
    expect(inBrand(text, { name: "$& Co" })).toBe(
      "$& Co's pages; run farebox doctor in Fareboxes.",
    );
    expect(inBrand(text, DEFAULT_BRAND)).toBe(text);
  });
});

test("no text of the code names the product to customers", () => {
  // Files whose texts only operators, developers or other servers read.
  const OTHERS = [
    "src/annexes/stripe-sandbox/texts/chinese.ts",
    "src/annexes/stripe-sandbox/texts/english.ts",
    "src/annexes/stripe-sandbox/texts/german.ts",
    "src/core/brand/brand.ts",
    /** Texts of the built-in guide, which come under the name of the brand. */
    "src/services/chat/protocols/guide/guide.ts",
    /** Refusals and schemas of the configuration file. */
    "src/services/chat/settings/model-section.ts",
    "src/services/chat/settings/provider-section.ts",
    "src/services/chat/settings/catalogue-section.ts",
    "src/settings/catalogue-document.ts",
    "src/settings/api-keys.ts",
    "src/settings/variables.ts",
    /** The command line and the log. */
    "src/annexes/prices/price-guards.ts",
    "src/annexes/imports/one-api-plan.ts",
    "src/cli/help.ts",
    "src/main.ts",
    /** Names of the program for other servers. */
    "src/cli/mail-commands.ts",
    "src/payments/providers/stripe-provider.ts",
    "src/services/mail/providers/sink.ts",
    "src/services/maps/providers/remote/upstream.ts",
    "src/upstream/http/http-client.ts",
    /** The sandbox, which sells nothing. */
    /** Titles of our pages in the built-in index of search. */
    "src/services/search/providers/embedded/shipped-documents.ts",
  ];
  const naming = readTree()
    .filter(({ path }) => /^(?:src|workers|actors|dashboard)\/.*\.(?:tsx?|html)$/.test(path))
    .filter(({ text }) =>
      text.split("\n").some((line) => line.includes(PRODUCT) && !/^\s*(?:\/\/|\/?\*)/.test(line)),
    )
    .map(({ path }) => path);
  expect(naming.filter((path) => !OTHERS.includes(path))).toEqual([]);
  expect(OTHERS.filter((path) => !naming.includes(path))).toEqual([]);
});
