// Receivers of webhooks over real HTTP, and a worker's sender on the stores of a test.

import { webhookDisabledMail } from "../../../src/accounts/webhook-mails.ts";
import { addReceiver, type WebhookDeps } from "../../../src/accounts/webhooks.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { WEBHOOK_EVENT_TYPES } from "../../../src/core/webhooks/webhook-events.ts";
import { WebhookSeals } from "../../../src/core/webhooks/webhook-seals.ts";
import type { Database } from "../../../src/store/servers/database.ts";
import { WebhookDeliveries } from "../../../src/store/webhooks/webhook-deliveries.ts";
import type { Resolve } from "../../../src/upstream/public-address.ts";
import type { Fetch } from "../../../src/upstream/upstream-http.ts";
import { WebhookSender, type WebhookSenderDeps } from "../../../workers/webhook-sender.ts";
import { newClient } from "../fakes/byte-server.ts";
import { silent } from "../fakes/silent-log.ts";
import { atEnd } from "../shared.ts";
import type { TestAccount } from "./accounts.ts";
import { WORLD_PEPPER, type World } from "./world.ts";

/** The stored events of an account, each with its data. */
export async function storedEvents({ sql }: Database, { row }: TestAccount) {
  const rows = await sql<{ type: string; data: string }[]>`
    SELECT type, data FROM webhook_events WHERE account = ${row.number} ORDER BY created_at, type`;
  return rows.map(({ type, data }) => [type, JSON.parse(data)] as const);
}

/** A request that a receiver got. */
export interface Got {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly json: { readonly id: string; readonly type: string; readonly data: object };
}

export interface TestReceiver {
  readonly url: string;
  readonly got: Got[];
  /** Answers the next requests; by default 204. */
  answer: (got: Got) => Response | Promise<Response>;
}

const TAKEN = () => new Response(null, { status: 204 });

/** A server that keeps the requests that it gets. */
export function startReceiver(): TestReceiver {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const body = await request.text();
      const got = {
        headers: Object.fromEntries(request.headers),
        body,
        json: JSON.parse(body) as Got["json"],
      };
      receiver.got.push(got);
      return await receiver.answer(got);
    },
  });
  atEnd(() => server.stop(true));
  const receiver: TestReceiver = { url: `${server.url.href}hook`, got: [], answer: TAKEN };
  return receiver;
}

export const SEALS = new WebhookSeals([WORLD_PEPPER]);

/** The use cases on the stores of a world; any address is allowed. */
export function webhooksOf({ store: accounts }: Pick<World, "store">): WebhookDeps {
  return {
    administration: { accounts, now: Date.now },
    webhooks: { seals: SEALS, allowPrivate: true },
  };
}

/** Adds a receiver to an account; by default for all types. */
export async function receive(
  world: Pick<World, "store">,
  { row }: { readonly row: { readonly id: string; readonly number: number } },
  {
    url,
    events = WEBHOOK_EVENT_TYPES,
  }: { readonly url: string; readonly events?: readonly string[] },
): Promise<{ readonly id: string; readonly secret: string }> {
  const also = async () => {};
  const terms = { url, description: "test", events };
  const { receiver, secret } = await addReceiver(webhooksOf(world), { account: row, also }, terms);
  return { id: receiver.id, secret };
}

export interface TestSender {
  readonly sender: WebhookSender;
  readonly results: string[];
  readonly disabled: string[];
  /** Makes the attempts that are due, and waits for them. */
  run(): Promise<void>;
}

interface SenderOptions {
  readonly fetch?: Fetch;
  readonly allowPrivate?: boolean;
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  readonly seals?: WebhookSeals;
  readonly deliveries?: WebhookSenderDeps["deliveries"];
}

/** The sender of one worker. */
export function startSender(database: Database, options: SenderOptions = {}): TestSender {
  const results: string[] = [];
  const disabled: string[] = [];
  const client = newClient();
  atEnd(() => client.close());
  const sender = new WebhookSender({
    deliveries: new WebhookDeliveries(database),
    seals: SEALS,
    fetch: client.fetch,
    allowPrivate: true,
    timeoutMs: 10_000,
    now: Date.now,
    monotonicMs: () => performance.now(),
    chance: () => 0.5,
    mailOf: (why, { account, receiver }) =>
      webhookDisabledMail({ brand: () => DEFAULT_BRAND, origin: "https://farebox.example" }, why, {
        account: account.id,
        url: receiver.url,
      }),
    onAttempt: (result) => results.push(result),
    onDisabled: (why) => disabled.push(why),
    log: silent,
    ...options,
  });
  const run = async () => {
    await sender.look();
    await sender.settled();
  };
  return { sender, results, disabled, run };
}

/** Lets time pass: every waiting delivery is due now, and each delivery is older by `ms`. */
export async function letPass(database: Database, ms: number): Promise<void> {
  await database.sql`
    UPDATE webhook_deliveries SET next_attempt_at = now(),
      started_at = started_at - ${ms} * interval '1 ms',
      claimed_until = claimed_until - ${ms} * interval '1 ms'`;
  await database.sql`
    UPDATE webhook_receivers SET failing_since = failing_since - ${ms} * interval '1 ms',
      last_delivered_at = last_delivered_at - ${ms} * interval '1 ms'`;
}
