// Tests the operator's commands about the webhooks of customers.

import { expect, test } from "bun:test";
import { removeReceiver, updateReceiver } from "../../../src/accounts/webhooks.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { receive, startReceiver, webhooksOf } from "../../support/stores/webhook-lab.ts";
import { openAccount, openWorld, pay, usd } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);
const also = async () => {};

test("an operator lists webhooks with waiting events, ends one, and gives it back", async () => {
  expect((await cli("webhook", "list")).out).toBe("There are no webhooks.\n");
  const account = await openAccount(world);
  const url = "https://hooks.example/secret-path";
  const { id } = await receive(world, account, { url, events: ["payment.succeeded"] });
  await pay(world, account, usd("20"));
  const list = async () => jsonOf(await cli("webhook", "list", "--json")).webhooks;
  expect(await list()).toMatchObject([
    { id, account: account.id, disabled: null, waiting: 1, failed: 0 },
  ]);
  const { out } = await cli("webhook", "list");
  expect(out).toContain("hooks.example");
  expect(out).not.toContain("secret-path");
  expect((await cli("webhook", "disable", id)).out).toBe(`The webhook ${id} is disabled.\n`);
  expect(await list()).toMatchObject([{ disabled: "operator", waiting: 0, failed: 1 }]);
  const target = { account: account.row, id, also };
  const terms = { url, description: "", events: ["payment.succeeded"], enabled: true };
  await expect(updateReceiver(webhooksOf(world), target, terms)).rejects.toThrow(
    "The operator disabled this webhook",
  );
  await expect(removeReceiver(webhooksOf(world), target)).rejects.toThrow(
    "The operator disabled this webhook",
  );
  await cli("webhook", "enable", id);
  expect(await list()).toMatchObject([{ disabled: null }]);
});

test("an operator lists what was sent to a webhook, and sends again what failed", async () => {
  const account = await openAccount(world);
  const at = startReceiver();
  const events = ["payment.succeeded"];
  const { id } = await receive(world, account, { url: at.url, events });
  const other = await receive(world, account, { url: at.url, events: ["topup.failed"] });
  expect((await cli("webhook", "deliveries", id)).out).toBe("Nothing was sent to this webhook.\n");
  const none = "Nothing is sent again: no event failed, or the webhook is disabled.\n";
  expect((await cli("webhook", "replay", id)).out).toBe(none);
  await pay(world, account, usd("20"));
  await pay(world, account, usd("30"));
  const { sql } = world.database;
  // The deliveries began an hour ago, and their attempts are over.
  await sql`
    UPDATE webhook_deliveries SET status = 'failed', attempts = 9, http_status = 503,
      error = 'It answered 503', started_at = now() - interval '1 hour', ended_at = now()
    WHERE receiver = (SELECT number FROM webhook_receivers WHERE id = ${id})`;
  const list = async (...more: string[]) => {
    const { deliveries } = jsonOf(await cli("webhook", "deliveries", id, "--json", ...more));
    return deliveries as { number: number; status: string; attempts: number }[];
  };
  const [newest, oldest] = await list("--status", "failed");
  expect(newest).toMatchObject({ status: "failed", attempts: 9, http_status: 503, webhook: id });
  const { out } = await cli("webhook", "deliveries", id);
  expect(out).toMatch(/^\d+ +20\S+Z +payment.succeeded +evt_\w+ +failed +503 +9 attempts/);
  const one = ["--delivery", `${oldest?.number}`];
  const foreign = await cli("webhook", "replay", other.id, ...one);
  expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("Only a delivery that")]);
  const sent = await cli("webhook", "replay", id, ...one);
  expect(sent.out).toBe(`Delivery ${oldest?.number} is sent again.\n`);
  expect(await list("--status", "waiting")).toMatchObject([
    { number: oldest?.number, attempts: 0 },
  ]);
  const late = await cli("webhook", "replay", id, "--since", "2999-01-01");
  expect(late.out).toBe(none);
  expect((await cli("webhook", "replay", id)).out).toBe("1 event is sent again.\n");
  expect((await list()).map(({ status }) => status)).toEqual(["waiting", "waiting"]);
  const activity = await sql<{ action: string; about: string }[]>`
    SELECT action, about FROM activity WHERE account = ${account.row.number}
    AND action = 'webhook_replayed' ORDER BY number`;
  expect(activity.map(({ about }) => about)).toEqual(["one event", "failed events"]);
});

test("an unknown webhook is said to be none, and a wrong id is a wrong use", async () => {
  const unknown = await cli("webhook", "disable", "hook_7n42DGM5Tflk9n8mt7Fhc7");
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("There is no webhook")]);
  expect((await cli("webhook", "disable", "acct_1")).code).toBe(2);
});
