import { expect, test } from "bun:test";
import type { DeliveriesReply, WebhooksReply } from "../../../src/console/webhook-lists.ts";
import type { ChangedWebhookReply, WebhookWithSecretReply } from "../../../src/console/webhooks.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";

const world = await shared(ConsoleWorld.start());

const BODY = {
  url: "https://hooks.example/farebox?token=abc",
  description: "production",
  events: ["balance.low", "topup.failed"],
};

function pathOf({ id }: { readonly id: string }): string {
  return `/accounts/${id}/webhooks`;
}

async function created() {
  const account = await world.account();
  const path = pathOf(account);
  const { body } = await world.post<WebhookWithSecretReply>("admin", path, BODY);
  return { account, path, one: `${path}/${body.webhook.id}`, ...body };
}

test("a secret is shown when it is made, and in no list and no activity", async () => {
  const { account, path, secret, webhook } = await created();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(webhook).toMatchObject({ ...BODY, enabled: true, disabled: null, failing_since: null });
  const list = await world.get<WebhooksReply>("admin", path);
  expect(list.body.webhooks).toEqual([webhook]);
  expect(list.body.types.map(({ type }) => type)).toContain("payment.disputed");
  const activity = await world.get("owner", `/accounts/${account.id}/activity`);
  const all = JSON.stringify([list.body, activity.body]);
  expect(all).not.toContain(secret);
  expect(JSON.stringify(activity.body)).toContain("hooks.example");
  expect(JSON.stringify(activity.body)).not.toContain("token");
});

for (const [what, change, field] of [
  ["http", { url: "http://hooks.example/" }, "url"],
  ["a port", { url: "https://hooks.example:25/" }, "url"],
  ["a password", { url: "https://a:b@hooks.example/" }, "url"],
  ["no address", { url: "hooks" }, "url"],
  ["no event", { events: [] }, "events"],
  ["an unknown event", { events: ["balance.high"] }, "events"],
  ["an event twice", { events: ["balance.low", "balance.low"] }, "events"],
  ["a long note", { description: "x".repeat(500) }, "description"],
  ["an unknown field", { secret: "whsec_mine" }, "secret"],
] as const) {
  test(`a webhook with ${what} is refused, and the refusal names the field`, async () => {
    const account = await world.account();
    const answer = await world.post("admin", pathOf(account), { ...BODY, ...change });
    expect(answer.status).toBe(400);
    expect(answer.message).toContain(field);
  });
}

test("an account has at most five webhooks, also in parallel", async () => {
  const account = await world.account();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => world.post("admin", pathOf(account), BODY)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(answers.find(({ status }) => status !== 200)).toMatchObject({
    status: 409,
    message: "An account can have at most 5 webhooks",
  });
});

test("a webhook is changed, disabled, enabled, rotated and deleted", async () => {
  const { path, one, secret } = await created();
  const changed = { ...BODY, url: "https://other.example/", enabled: false };
  const { body } = await world.post<ChangedWebhookReply>("admin", `${one}/change`, changed);
  expect(body.webhook).toMatchObject({ url: changed.url, enabled: false, disabled: "holder" });
  const test = await world.post("admin", `${one}/test`);
  expect([test.status, test.message]).toEqual([
    409,
    "The webhook is disabled and gets no events: enable it first",
  ]);
  await world.post("admin", `${one}/change`, { ...changed, enabled: true });
  const rotated = await world.post<WebhookWithSecretReply>("admin", `${one}/rotate`, {
    request: "rotation-1",
  });
  expect(rotated.body.secret).not.toBe(secret);
  expect(rotated.body.webhook.old_secret_until).not.toBeNull();
  expect((await world.post("admin", `${one}/delete`)).status).toBe(200);
  expect((await world.get<WebhooksReply>("admin", path)).body.webhooks).toEqual([]);
  expect((await world.post("admin", `${one}/delete`)).status).toBe(404);
});

test("an addition whose answer was lost is asked for again, and adds one webhook", async () => {
  const account = await world.account();
  const path = pathOf(account);
  const order = { ...BODY, request: "addition-1" };
  const add = (more: object = {}) =>
    world.post<WebhookWithSecretReply>("admin", path, { ...order, ...more });
  const [first, beside] = await Promise.all([add(), add()]);
  expect([first.status, beside.status]).toEqual([200, 200]);
  expect(beside.body).toEqual(first.body);
  expect((await add({ events: [...BODY.events].reverse() })).body).toEqual(first.body);
  const others = [await add({ request: "addition-2" }), await add({ description: "another" })];
  const { body } = await world.get<WebhooksReply>("admin", path);
  expect(body.webhooks.map(({ id }) => id)).toEqual(
    [first, ...others].map(({ body: { webhook } }) => webhook.id),
  );
});

test("a rotation whose answer was lost is asked for again, and shows the same secret", async () => {
  const { account, one, secret } = await created();
  const rotate = (request: string) =>
    world.post<WebhookWithSecretReply>("admin", `${one}/rotate`, { request });
  const [first, beside] = await Promise.all([rotate("rotation-1"), rotate("rotation-1")]);
  expect(first.status).toBe(200);
  expect(first.body.secret).not.toBe(secret);
  expect(beside.body).toEqual(first.body);
  expect((await rotate("rotation-1")).body).toEqual(first.body);
  const activity = await world.get("owner", `/accounts/${account.id}/activity`);
  expect(JSON.stringify(activity.body).match(/"webhook_rotated"/g)).toHaveLength(1);
  expect((await rotate("rotation-2")).body.secret).not.toBe(first.body.secret);
});

test("a rotation without an id is refused, and the secret stays", async () => {
  const { path, one } = await created();
  const answer = await world.post("admin", `${one}/rotate`, {});
  expect([answer.status, answer.message]).toEqual([400, expect.stringContaining("request")]);
  const { body } = await world.get<WebhooksReply>("admin", path);
  expect(body.webhooks[0]?.old_secret_until).toBeNull();
});

test("a webhook of another account is unknown, whatever is asked of it", async () => {
  const [{ webhook }, other] = [await created(), await created()];
  for (const [action, body] of [
    ["rotate", { request: "rotation-1" }],
    ["delete", undefined],
    ["test", undefined],
  ] as const) {
    const answer = await world.post("admin", `${other.path}/${webhook.id}/${action}`, body);
    expect([action, answer.status]).toEqual([action, 404]);
  }
  const change = { ...BODY, enabled: true };
  expect((await world.post("admin", `${other.path}/${webhook.id}/change`, change)).status).toBe(
    404,
  );
  const replay = { since: "2026-01-01T00:00:00Z" };
  const replayed = await world.post<{ replayed: number }>(
    "admin",
    `${other.path}/${webhook.id}/replay`,
    replay,
  );
  expect(replayed.body.replayed).toBe(0);
});

test("the log has a line for each delivery, by webhook and status, page by page", async () => {
  const { path, one, webhook } = await created();
  for (let sent = 0; sent < 3; sent += 1) await world.post("admin", `${one}/test`);
  const { body } = await world.get<DeliveriesReply>("admin", `${path}/deliveries`);
  expect(body.deliveries).toHaveLength(3);
  expect(body.deliveries[0]).toMatchObject({
    webhook: webhook.id,
    type: "webhook.test",
    status: "waiting",
    attempts: 0,
    http_status: null,
  });
  const [newest] = body.deliveries;
  const older = await world.get<DeliveriesReply>(
    "admin",
    `${path}/deliveries?before=${newest?.number}`,
  );
  expect(older.body.deliveries).toHaveLength(2);
  const failed = await world.get<DeliveriesReply>("admin", `${path}/deliveries?status=failed`);
  expect(failed.body.deliveries).toEqual([]);
  const foreign = await world.get<DeliveriesReply>("admin", `${path}/deliveries?webhook=hook_none`);
  expect(foreign.body.deliveries).toEqual([]);
  const replay = await world.post("admin", `${path}/deliveries/${newest?.number}/replay`);
  expect(replay.status).toBe(409);
  for (const since of [
    "yesterday",
    "2026-02-30T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
  ]) {
    const answer = await world.post("admin", `${one}/replay`, { since });
    expect([since, answer.status]).toEqual([since, 400]);
    expect(answer.message).toContain("since");
  }
});

test("closing an account deletes its webhooks", async () => {
  const { account } = await created();
  const { stores } = world.api.parts;
  const row = await stores.accounts.find(account.id);
  if (row === null) throw new Error("The account is gone");
  await stores.accounts.change(row, { state: "closed" }, new Date());
  const rows = await stores.database.sql`
    SELECT 1 FROM webhook_receivers WHERE account = ${account.row.number}`;
  expect(rows).toHaveLength(0);
  expect((await world.post("admin", pathOf(account), BODY)).status).toBe(409);
});
