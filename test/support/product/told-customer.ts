// A customer of a started product who has webhooks and a burn-rate rule. The addresses of the
// webhooks have a word of the test, and their servers answer with one.

import { addReceiver, testReceiver } from "../../../src/accounts/webhooks.ts";
import { usd } from "../../../src/core/money/money.ts";
import { WEBHOOK_EVENT_TYPES } from "../../../src/core/webhooks/webhook-events.ts";
import { WebhookSeals } from "../../../src/core/webhooks/webhook-seals.ts";
import { eventually } from "../eventually.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { giveRule } from "../stores/burn-lab.ts";
import { startReceiver } from "../stores/webhook-lab.ts";
import { type Product, SECRETS } from "./product.ts";

/** An address at which nothing listens. */
const NOWHERE = "http://127.0.0.1:1/";

export interface ToldCustomer {
  /** The secrets of the webhooks, which only the customer has. */
  readonly secrets: readonly string[];
  /**
   * Resolves once a server has failed with its word, redirected to its word, and taken an event of
   * each of these types; and once a server was away.
   */
  told(types: readonly string[]): Promise<void>;
  /** The requests that the server got: their headers and bodies, one a line. */
  got(): readonly string[];
}

export interface CustomerWords {
  /** A part of the addresses of the webhooks. */
  readonly address: string;
  /** The reply of their servers, in head and body. */
  readonly reply: string;
}

/** Adds the webhooks and the rule. The product must allow webhooks of this machine. */
export async function toldCustomer(
  { operator }: Pick<Product, "operator">,
  account: TestAccount,
  { address, reply }: CustomerWords,
): Promise<ToldCustomer> {
  const { administration, database } = operator;
  const seals = new WebhookSeals([SECRETS.KEY_PEPPER]);
  const deps = { administration, webhooks: { seals, allowPrivate: true } };
  const also = async () => {};
  const server = startReceiver();
  const answers = [
    () => new Response(reply, { status: 500, headers: { "x-reply": reply } }),
    () => new Response(reply, { status: 302, headers: { location: `${NOWHERE}${reply}` } }),
  ];
  server.answer = () => answers[server.got.length - 1]?.() ?? new Response(reply);
  const secrets: string[] = [];
  for (const url of [`${server.url}/${address}?token=${address}`, `${NOWHERE}${address}`]) {
    const terms = { url, description: "", events: WEBHOOK_EVENT_TYPES };
    const { receiver, secret } = await addReceiver(deps, { account: account.row, also }, terms);
    secrets.push(secret);
    const target = { account: account.row, id: receiver.id, also };
    for (const _ of answers) await testReceiver(deps, target);
  }
  await giveRule(operator, account, { action: "alert", amount: usd("0.00001") });
  await eventually("the rule watches the key", async () => {
    const rows = await database.sql`
      SELECT FROM burn_samples s JOIN keys k ON k.number = s.key WHERE k.id = ${account.keyId}`;
    return rows.length > 0;
  });
  const told = async (types: readonly string[]) => {
    await eventually(`the customer was told ${types.join(", ")}`, () => {
      const taken = server.got.slice(answers.length).map(({ json }) => json.type);
      return types.every((type) => taken.includes(type));
    });
    await eventually("a server was away", async () => {
      const rows = await database.sql`
        SELECT FROM webhook_deliveries WHERE http_status IS NULL AND attempts > 0`;
      return rows.length > 0;
    });
  };
  const got = () => server.got.map(({ headers, body }) => `${JSON.stringify(headers)}${body}`);
  return { secrets, told, got };
}
