// Tests that `farebox quote` says what the service says, without any store, and never shows the
// key.

import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { MODEL, PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { CLI_FILE, cliIn, jsonOf } from "../../support/product/run-cli.ts";
import { sharedFolder } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const catalogue = catalogueOf([MODEL, PAID_ONLY_MODEL], []);
const api = await sharedApi({ catalogue: () => catalogue });
const folder = sharedFolder("quotes");
afterEach(() => api.reset());

const CHAT = "/v1/chat/completions";

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const hundred = written("hundred.json", JSON.stringify(chatBody({ max_tokens: 100 })));

const quote = ({ key }: Pick<TestAccount, "key">, ...args: readonly string[]) =>
  cliIn({ FAREBOX_API_KEY: key })("quote", ...args, "--url", api.parts.url);

/** The tool with a key of no account. */
const cli = cliIn({ FAREBOX_API_KEY: "svc_live_any" });

describe("farebox quote", () => {
  test("prints hold, likely cost, prices and what fits, and needs no store", async () => {
    const account = await api.account({ paid: "5" });
    const body = { path: CHAT, body: chatBody({ max_tokens: 100 }) };
    const response = await api.postTo("/v1/quote", account, body);
    const reply = (await response.json()) as object;
    const json = jsonOf(await quote(account, CHAT, hundred, "--json"));
    expect({ ...json, svc: null }).toEqual({ ...reply, svc: null });
    const { code, out } = await quote(account, CHAT, hundred);
    expect(code).toBe(0);
    const words = Object.fromEntries(
      out.split("\n").map((line) => [line.slice(0, 22).trim(), line.slice(22).trim()]),
    );
    expect(words).toMatchObject({
      model: MODEL.id,
      hold: `$${json.hold_usd.toFixed(9).replace(/0+$/, "")}`,
      prices: "input tokens: $1 for 1000000",
      "would pass": "yes",
      spendable: "$5, by the balance",
      "max_tokens that fits": `${json.max_tokens_affordable}`,
    });
    expect(words["likely cost"]).toEndWith(`${json.likely.prompt_tokens} tokens in and 100 out`);
    expect(out).not.toContain(account.key);
    expect(api.chat.requests).toEqual([]);
  });

  test("of a call that would be refused names what binds, and exits with 1", async () => {
    const account = await api.account({ paid: "5", monthlyLimit: "0.00001" });
    const { code, err } = await quote(account, CHAT, hundred);
    expect(code).toBe(1);
    expect(err).toMatch(/^would pass +no: .* budget of the key .*\(key_budget_exceeded\)$/m);
    const asJson = await quote(account, CHAT, hundred, "--json");
    expect([asJson.code, JSON.parse(asJson.out)]).toEqual([
      1,
      expect.objectContaining({ would_pass: false }),
    ]);
  });

  test("of a service with a fixed price has no tokens", async () => {
    const account = await api.account({ contract: "enterprise", paid: "50" });
    const body = written("search.json", '{"query": "trams", "max_results": 7}');
    const { out } = await quote(account, "/v1/search", body);
    expect(out).toMatch(/^prices +result: \$\S+ each$/m);
    expect(out).not.toContain("tokens");
  });

  test("takes the headers of the call as options", async () => {
    const account = await api.account({ contract: "enterprise", paid: "50" });
    const body = written("ten.json", '{"query": "trams", "max_results": 10}');
    const capped = await quote(account, "/v1/search", body, "--max-cost", "0.000001");
    expect(capped.err).toContain("(max_cost_exceeded)");
    const run = await quote(account, "/v1/search", body, "--run", "nightly; max-usd=0.00001");
    expect(run.err).toContain("(run_budget_exceeded)");
    const wrong = await quote(account, "/v1/search", body, "--run", "nightly; no=1");
    expect(wrong.err).toContain("The header x-svc-run has no 'no'");
  });

  test("of a path below /api asks the Application API", async () => {
    const account = await api.account({ surface: "application", plan: "max", paid: "9" });
    const { code, out } = await quote(account, "/api/v1/chat/completions", hundred);
    expect([code, out.includes("would pass")]).toEqual([0, true]);
  });

  test("reads the body from standard input, and the key from a file", async () => {
    const account = await api.account({ paid: "5" });
    const child = Bun.spawn([process.execPath, CLI_FILE, "quote", CHAT, "--url", api.parts.url], {
      env: { FAREBOX_API_KEY_FILE: written("key", `${account.key}\n`) },
      stdin: Buffer.from(JSON.stringify(chatBody({ max_tokens: 100 }))),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([await child.exited, err]).toEqual([0, ""]);
    expect(out).toMatch(/^would pass +yes$/m);
  });

  test("names the wrong field of a body, and the refusal of a key", async () => {
    const account = await api.account();
    const hot = written("hot.json", JSON.stringify(chatBody({ temperature: 9 })));
    const refused = await quote(account, CHAT, hot);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("temperature")]);
    const unknown = await quote({ key: `${account.key.slice(0, -1)}!` }, CHAT, hundred);
    expect(unknown.err).toStartWith("invalid_api_key: ");
    expect(unknown.err).not.toContain(account.key.slice(0, -1));
  });
});

describe("a wrong command line", () => {
  const cases: readonly (readonly [what: string, args: readonly string[], words: string])[] = [
    ["no path", ["quote"], "needs PATH"],
    ["a path without a slash", ["quote", "chat"], "PATH must be a path"],
    ["a foreign scheme", ["quote", CHAT, "--url", "ftp://a"], "--url must be an address"],
    ["a file that is not there", ["quote", CHAT, join(folder, "none")], "cannot be read"],
    ["a body that is no object", ["quote", CHAT, written("one.json", "[1]")], "one JSON object"],
    ["a run with a line end", ["quote", CHAT, hundred, "--run", "a\nb"], "--run must have ASCII"],
  ];
  for (const [what, args, words] of cases) {
    test(`with ${what} is refused with exit code 2`, async () => {
      const { code, err } = await cli(...args);
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    });
  }

  test("without a key, or with a key that no header can have, says where a key goes", async () => {
    const none = await cliIn({})("quote", CHAT, hundred);
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining("FAREBOX_API_KEY is not set"),
    ]);
    const broken = await cliIn({ FAREBOX_API_KEY: "svc live secret" })("quote", CHAT, hundred);
    expect(broken.err).toStartWith("FAREBOX_API_KEY must be an API key");
    expect(broken.err).not.toContain("svc live secret");
  });
});

describe("another server", () => {
  test("that answers no quote, or redirects, is named, and a redirect gets no key", async () => {
    const paths: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname } = new URL(request.url);
        paths.push(pathname);
        if (pathname === "/elsewhere") return Response.json({ object: "quote" });
        return Response.redirect("/elsewhere", 307);
      },
    });
    const url = `http://127.0.0.1:${server.port}`;
    try {
      const { code, err } = await cli("quote", CHAT, hundred, "--url", url);
      expect([code, err]).toEqual([1, expect.stringContaining(`${url}/v1/quote answered 307`)]);
      expect(paths).toEqual(["/v1/quote"]);
    } finally {
      await server.stop(true);
    }
    const gone = await cli("quote", CHAT, hundred, "--url", url);
    expect(gone.err).toContain("/v1/quote cannot be asked");
  });
});
