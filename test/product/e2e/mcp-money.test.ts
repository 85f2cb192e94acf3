// Races of tools at /mcp over two API processes: a balance that pays for some of the calls pays for
// exactly those.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { SCOPES } from "../../../src/core/access/services.ts";
import { add, type NanoUsd, usd } from "../../../src/core/money/money.ts";
import type { Arguments } from "../../../src/mcp/mcp-tools.ts";
import { MCP_VERSIONS, type McpAnswer, postMcp, toolCall } from "../../support/api/mcp-messages.ts";
import { startFakeSearch } from "../../support/fakes/fake-search.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { untilCallsEnd } from "../../support/product/product-checks.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

let product: Product;
let smtp: ScriptedSmtp;
beforeAll(async () => {
  smtp = resources.use(await ScriptedSmtp.start());
  const finder = resources.use(startFakeSearch("searxng"));
  product = resources.use(
    await startProduct({
      apis: 2,
      search: { providers: [{ kind: "searxng", base_url: finder.baseUrl }] },
      env: {
        MAIL_SMTP_URL: `${smtp.url}?tls=none`,
        MAIL_DOMAIN: "mail.race.test",
        MAIL_WAIT_SECONDS: "30",
      },
    }),
  );
}, 180_000);

const CALLS = 60;
const AFFORDED = 7;
const FARES = { query: "fares", max_results: 2 };
const MAIL = { to: "ada@x.test", subject: "A fare", text: "A line." };

interface Race {
  readonly tool: string;
  readonly args: (at: number) => Arguments;
  /** The cost of each call, which is its hold. */
  readonly cost: NanoUsd;
}

const RACES: readonly Race[] = [
  { tool: "search", args: () => FARES, cost: usd("0.001") },
  { tool: "search_batch", args: () => ({ searches: [FARES, FARES] }), cost: usd("0.002") },
  { tool: "maps_geocode", args: () => ({ query: "Berlin" }), cost: usd("0.00005") },
  {
    tool: "send_mail",
    args: (at) => ({ ...MAIL, idempotency_key: `mail ${at}` }),
    cost: usd("0.0015"),
  },
];

/** Sends a call of a tool to one process after the other, in one version after the other. */
function send(
  { key }: TestAccount,
  at: number,
  [tool, args]: readonly [tool: string, args: Arguments],
): Promise<McpAnswer> {
  const { url } = product.api(at % product.apis.length);
  const version = MCP_VERSIONS[at % MCP_VERSIONS.length] ?? MCP_VERSIONS[0];
  return postMcp(url, key, toolCall(version, tool, args));
}

for (const { tool, args, cost } of RACES) {
  test(`of ${CALLS} calls of ${tool} at once a balance pays for those it can`, async () => {
    const paid = cost * BigInt(AFFORDED) + cost / 2n;
    const account = await product.account({
      paid: (Number(paid) / 1e9).toFixed(9),
      free: "0",
      contract: "enterprise",
      scopes: SCOPES,
    });
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, at) => send(account, at, [tool, args(at)])),
    );
    const served = answers.filter(({ code }) => code === null);
    const refused = answers.filter(({ code }) => code === "insufficient_credits");
    expect([served.length, refused.length]).toEqual([AFFORDED, CALLS - AFFORDED]);
    const told = served.map(({ reply }) => {
      return usd((reply?.result?.structuredContent?.svc?.cost_usd ?? 0).toFixed(9));
    });
    expect(told).toEqual(Array(AFFORDED).fill(cost));
    await untilCallsEnd(product);
    const { wallet } = await account.actor.state();
    expect([add(wallet.paid, ...told), wallet.heldPaid]).toEqual([paid as NanoUsd, usd("0")]);
    const { difference, openHolds } = await product.audit();
    expect([difference, openHolds]).toEqual([null, 0]);
  }, 180_000);
}

test("of as many sends of one message at once, one sends and pays", async () => {
  const account = await product.account({
    paid: "1",
    free: "0",
    contract: "enterprise",
    scopes: SCOPES,
  });
  const before = smtp.accepted.length;
  const args = { ...MAIL, idempotency_key: "the same" };
  const answers = await Promise.all(
    Array.from({ length: CALLS }, (_, at) => send(account, at, ["send_mail", args])),
  );
  const ids = new Set(answers.map(({ reply }) => reply?.result?.structuredContent?.id));
  expect([...ids]).toEqual([expect.stringMatching(/^msg_/)]);
  expect(smtp.accepted.length - before).toBe(1);
  const { wallet } = await account.actor.state();
  expect([wallet.paid, wallet.heldPaid]).toEqual([usd("0.9985"), usd("0")]);
}, 180_000);
