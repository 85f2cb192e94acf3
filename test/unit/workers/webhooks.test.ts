// Tests the deliveries of events to receivers that take them, and that fail in all ways.

import { beforeEach, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { rotateSecret, testReceiver, updateReceiver } from "../../../src/accounts/webhooks.ts";
import { DAY_MS, HOUR_MS } from "../../../src/core/durations.ts";
import { TEST_EVENT } from "../../../src/core/webhooks/webhook-events.ts";
import { WebhookSeals } from "../../../src/core/webhooks/webhook-seals.ts";
import { resealSecrets } from "../../../src/store/webhooks/receiver-secrets.ts";
import { replayDeliveries } from "../../../src/store/webhooks/replays.ts";
import { WebhookDeliveries } from "../../../src/store/webhooks/webhook-deliveries.ts";
import { eventually } from "../../support/eventually.ts";
import { ByteServer } from "../../support/fakes/byte-server.ts";
import { openMailbox } from "../../support/fakes/mailbox.ts";
import { random } from "../../support/random.ts";
import { atEnd, shared } from "../../support/shared.ts";
import {
  letPass,
  receive,
  startReceiver,
  startSender,
  webhooksOf,
} from "../../support/stores/webhook-lab.ts";
import { openAccount, openWorld, pay, usd, WORLD_PEPPER } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const { database } = world;
const mailbox = await shared(openMailbox(database));
const also = async () => {};
const NO_PUBLIC_ADDRESS = "No request was sent: its host has no public address";

beforeEach(async () => {
  await database.sql`DELETE FROM webhook_receivers`;
  await database.sql`DELETE FROM webhook_events`;
});

interface DeliveryRow {
  readonly status: string;
  readonly attempts: number;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly wait_ms: number;
}

async function deliveries(): Promise<DeliveryRow[]> {
  return await database.sql<DeliveryRow[]>`
    SELECT status, attempts, http_status, error, duration_ms,
      extract(epoch FROM next_attempt_at - attempted_at)::float8 * 1000 AS wait_ms
    FROM webhook_deliveries ORDER BY number`;
}

/** An account with one receiver at this address, and one event that waits for it. */
async function waiting(url: string, email?: string) {
  const account = await openAccount(world, email === undefined ? {} : { email });
  const hook = await receive(world, account, { url, events: ["payment.succeeded"] });
  await pay(world, account, usd("20"));
  return { account, hook };
}

/** A server that writes these bytes, or leaves the connection to the function. */
async function raw(onRequest: Parameters<typeof ByteServer.start>[0]): Promise<ByteServer> {
  const server = await ByteServer.start(onRequest);
  atEnd(() => server[Symbol.dispose]());
  return server;
}

test("an event is delivered once, with a signature that the library accepts", async () => {
  const receiver = startReceiver();
  const { account, hook } = await waiting(receiver.url);
  const { run, results } = startSender(database);
  await run();
  await run();
  expect(receiver.got).toHaveLength(1);
  const [got] = receiver.got;
  expect(new Webhook(hook.secret).verify(got?.body ?? "", { ...got?.headers })).toEqual(got?.json);
  expect(got?.json).toMatchObject({
    id: got?.headers["webhook-id"],
    type: "payment.succeeded",
    account: account.id,
    data: { amount_usd: "20", purpose: "balance" },
  });
  expect(got?.json.id).toMatch(/^evt_\w{22}$/);
  expect(got?.headers["user-agent"]).toBe("webhooks");
  expect(results).toEqual(["delivered"]);
  expect(await deliveries()).toMatchObject([
    { status: "delivered", attempts: 1, http_status: 204, error: null },
  ]);
});

test("a tampered body and a foreign secret are refused by that library", async () => {
  const receiver = startReceiver();
  const { hook } = await waiting(receiver.url);
  await startSender(database).run();
  const [got] = receiver.got;
  const headers = { ...got?.headers };
  expect(() => new Webhook(hook.secret).verify(`${got?.body} `, headers)).toThrow();
  expect(() =>
    new Webhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").verify(got?.body ?? "", headers),
  ).toThrow();
});

test("after a rotation both secrets sign for 24 hours, then the new one alone", async () => {
  const receiver = startReceiver();
  const { account, hook } = await waiting(receiver.url);
  const target = { account: account.row, id: hook.id, also };
  const { secret } = await rotateSecret(webhooksOf(world), target, "rotation-1");
  const { run } = startSender(database);
  await run();
  const both = receiver.got[0];
  for (const one of [hook.secret, secret]) {
    expect(new Webhook(one).verify(both?.body ?? "", { ...both?.headers })).toBeTruthy();
  }
  expect(both?.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  await database.sql`UPDATE webhook_receivers SET old_secret_until = now()`;
  await testReceiver(webhooksOf(world), target);
  await run();
  const alone = receiver.got[1];
  expect(alone?.headers["webhook-signature"]?.split(" ")).toHaveLength(1);
  expect(new Webhook(secret).verify(alone?.body ?? "", { ...alone?.headers })).toBeTruthy();
});

test("a rotation asked for again keeps the deployed secret signing for its 24 hours", async () => {
  const receiver = startReceiver();
  const { account, hook } = await waiting(receiver.url);
  const target = { account: account.row, id: hook.id, also };
  const rotate = () => rotateSecret(webhooksOf(world), target, "rotation-1");
  const [lost, again] = [await rotate(), await rotate()];
  expect(again).toEqual(lost);
  await startSender(database).run();
  const [got] = receiver.got;
  for (const one of [hook.secret, again.secret]) {
    expect(new Webhook(one).verify(got?.body ?? "", { ...got?.headers })).toBeTruthy();
  }
  await database.sql`UPDATE webhook_receivers SET old_secret_until = '2020-01-01'`;
  expect((await rotate()).secret).not.toBe(again.secret);
});

test("no secret is readable in the database, and a new pepper seals it again", async () => {
  const receiver = startReceiver();
  const { hook } = await waiting(receiver.url);
  const [row] = await database.sql<{ row: string }[]>`
    SELECT webhook_receivers::text || encode(secret, 'escape') AS row FROM webhook_receivers`;
  expect(row?.row).not.toContain(hook.secret.slice("whsec_".length));
  const seals = new WebhookSeals(["a newer pepper of sixteen", WORLD_PEPPER]);
  expect(await resealSecrets(database, { seals, random })).toBe(1);
  expect(await resealSecrets(database, { seals, random })).toBe(0);
  await startSender(database, { seals: new WebhookSeals(["a newer pepper of sixteen"]) }).run();
  const [got] = receiver.got;
  expect(new Webhook(hook.secret).verify(got?.body ?? "", { ...got?.headers })).toBeTruthy();
});

test("a receiver whose secret no pepper opens gets no request, and the log says so", async () => {
  const receiver = startReceiver();
  await waiting(receiver.url);
  await startSender(database, { seals: new WebhookSeals(["quite another pepper"]) }).run();
  expect(receiver.got).toEqual([]);
  expect(await deliveries()).toMatchObject([
    { status: "waiting", error: "Its secret cannot be read: rotate it" },
  ]);
});

const HUGE = "x".repeat(1024 * 1024);

for (const [what, answer, error, status] of [
  ["answers 500", () => new Response("oops", { status: 500 }), "It answered 500", 500],
  ["answers 404", () => new Response(null, { status: 404 }), "It answered 404", 404],
  [
    "redirects to this machine",
    () => new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/" } }),
    "It answered 307: redirects are not followed",
    307,
  ],
] as const) {
  test(`an event whose receiver ${what} waits, and is taken at its next attempt`, async () => {
    const receiver = startReceiver();
    receiver.answer = answer;
    await waiting(receiver.url);
    const { run, results } = startSender(database);
    await run();
    const [failed] = await deliveries();
    expect(failed).toMatchObject({ status: "waiting", attempts: 1, error, http_status: status });
    expect(failed?.wait_ms).toBeCloseTo(5_000, -2);
    await run();
    expect(receiver.got).toHaveLength(1);
    receiver.answer = () => new Response("{}", { status: 200 });
    await letPass(database, 5_000);
    await run();
    expect(results).toEqual(["retried", "delivered"]);
    expect(receiver.got.map(({ json }) => json.id)).toEqual([
      receiver.got[0]?.json.id ?? "",
      receiver.got[0]?.json.id ?? "",
    ]);
    expect(receiver.got[0]?.body).toBe(receiver.got[1]?.body ?? "");
  });
}

test("a receiver that never answers, or too slowly, is given up after the time limit", async () => {
  const silent = await raw(() => {});
  const slow = await raw(({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write("x: y\r\n"), 20);
    socket.on("close", () => clearInterval(timer));
  });
  for (const { url } of [silent, slow]) {
    await waiting(url);
    const { run } = startSender(database, { timeoutMs: 300 });
    await run();
    const rows = await deliveries();
    expect(rows.at(-1)).toMatchObject({
      status: "waiting",
      http_status: null,
      error: "The server did not answer in time",
    });
  }
  await eventually("their connections are closed", () => silent.open + slow.open === 0);
});

test("a reply without an end is not read: its status counts, and it is closed", async () => {
  const server = await raw(({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const more = () => socket.write(`100000\r\n${HUGE}\r\n`, (error) => error ?? more());
    more();
  });
  await waiting(server.url);
  const { run, results } = startSender(database);
  await run();
  expect(results).toEqual(["delivered"]);
  await eventually("the connection is closed", () => server.open === 0);
});

for (const [what, onRequest] of [
  ["closes the connection", ({ socket }) => void socket.destroy()],
  ["answers nonsense", ({ socket }) => void socket.end("this is no HTTP\r\n\r\n")],
  ["sends an endless head", ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${HUGE}`)],
] as const satisfies readonly (readonly [string, Parameters<typeof ByteServer.start>[0]])[]) {
  test(`a receiver that ${what} has failed, and the words quote nothing of it`, async () => {
    const server = await raw(onRequest);
    await waiting(server.url);
    await startSender(database).run();
    const [row] = await deliveries();
    expect(row).toMatchObject({ status: "waiting", http_status: null });
    expect(row?.error).toMatch(/^The server did not answer \(\w+\)$/);
  });
}

test("a receiver without a server has failed", async () => {
  const server = await raw(() => {});
  const { url } = server;
  server[Symbol.dispose]();
  await waiting(url);
  await startSender(database).run();
  expect(await deliveries()).toMatchObject([
    { status: "waiting", error: "The server did not answer (ECONNREFUSED)" },
  ]);
});

for (const [what, url, addresses] of [
  ["this machine by a name", "https://hooks.example/", ["127.0.0.1"]],
  [
    "a private address besides a public one",
    "https://hooks.example/",
    ["93.184.216.34", "10.1.2.3"],
  ],
  ["link-local metadata", "https://169.254.169.254/latest", []],
  ["this machine in IPv6", "https://[::1]/", []],
  ["IPv4 inside of IPv6", "https://hooks.example/", ["::ffff:127.0.0.1"]],
  ["NAT64", "https://hooks.example/", ["64:ff9b::7f00:1"]],
  ["a carrier's network", "https://hooks.example/", ["100.64.0.1"]],
  ["many receivers", "https://hooks.example/", ["224.0.0.1"]],
  ["the host of a virtual machine", "https://hooks.example/", ["168.63.129.16"]],
  ["another notation of this machine", "https://0x7f.1/", []],
] as const) {
  test(`an address of ${what} gets no request`, async () => {
    await waiting(url);
    let asked = 0;
    const fetch = () => {
      asked += 1;
      return Promise.reject(new Error("a request was sent"));
    };
    const resolve = async () => addresses;
    await startSender(database, { allowPrivate: false, fetch, resolve }).run();
    expect(asked).toBe(0);
    const refused = { status: "waiting", error: NO_PUBLIC_ADDRESS, duration_ms: 0 };
    expect(await deliveries()).toMatchObject([refused]);
  });
}

test("a request goes to the address that was checked, with the name of the host", async () => {
  await waiting("https://hooks.example:8443/h?k=1");
  const asked: unknown[] = [];
  const answers = [["93.184.216.34"], ["127.0.0.1"]];
  await startSender(database, {
    allowPrivate: false,
    resolve: async () => answers.shift() ?? [],
    fetch: async (url, init) => {
      asked.push({ url, host: init.headers.host, name: init.tls?.servername });
      return new Response(null, { status: 204 });
    },
  }).run();
  expect(asked).toEqual([
    { url: "https://93.184.216.34:8443/h?k=1", host: "hooks.example:8443", name: "hooks.example" },
  ]);
  expect(await deliveries()).toMatchObject([{ status: "delivered" }]);
});

test("a name without any address looks like a name of the operator's own network", async () => {
  await waiting("https://hooks.example/");
  const fetch = () => Promise.reject(new Error("a request was sent"));
  for (const code of ["ENOTFOUND", "EAI_AGAIN", "DNS_ENODATA"]) {
    const resolve = () => Promise.reject(Object.assign(new Error("no"), { code }));
    await startSender(database, { allowPrivate: false, fetch, resolve }).run();
    expect(await deliveries()).toMatchObject([{ error: NO_PUBLIC_ADDRESS, duration_ms: 0 }]);
    await letPass(database, 60_000);
  }
});

test("a name that resolves for too long has failed", async () => {
  await waiting("https://hooks.example/");
  const fetch = () => Promise.reject(new Error("a request was sent"));
  await startSender(database, {
    allowPrivate: false,
    fetch,
    timeoutMs: 50,
    resolve: () => new Promise(() => {}),
  }).run();
  expect(await deliveries()).toMatchObject([{ error: "The server did not answer in time" }]);
});

test("a receiver that answers 410 is disabled at once, and its holder gets one mail", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 410 });
  const { account } = await waiting(receiver.url, "gone@example.test");
  await pay(world, account, usd("5"));
  const { run, disabled } = startSender(database);
  await run();
  expect(disabled).toEqual(["gone"]);
  expect((await deliveries()).map(({ status }) => status)).toEqual(["failed", "failed"]);
  const [mail, ...others] = await mailbox.read("gone@example.test");
  expect(others).toEqual([]);
  expect(mail?.subject).toMatch(/^Your webhook at 127\.0\.0\.1:\d+ was disabled$/);
  expect(mail?.text).toContain("410");
  expect(mail?.links).toContain(`https://farebox.example/dashboard/${account.id}/webhooks`);
  await pay(world, account, usd("5"));
  expect((await deliveries()).slice(2)).toMatchObject([
    { status: "failed", attempts: 0, error: "The webhook was disabled" },
  ]);
  await run();
  expect(receiver.got).toHaveLength(2);
});

test("a replay sends the events of the time when we had a receiver disabled", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 410 });
  const { account, hook } = await waiting(receiver.url);
  const { run } = startSender(database);
  await run();
  await pay(world, account, usd("5"));
  const target = { account: account.row, id: hook.id, also };
  const terms = { url: receiver.url, description: "", events: ["payment.succeeded"] };
  const set = (enabled: boolean) =>
    updateReceiver(webhooksOf(world), target, { ...terms, enabled });
  await set(true);
  await set(false);
  await pay(world, account, usd("7"));
  await set(true);
  await letPass(database, 120_000);
  const of = { receiver: hook.id, since: new Date(Date.now() - DAY_MS) };
  const replay = { of, now: new Date(), also };
  expect(await replayDeliveries(database, account.row.number, replay)).toBe(2);
  receiver.answer = () => new Response(null, { status: 204 });
  await run();
  // Events that are replayed together are due together, and arrive in any order.
  const sent = receiver.got.slice(1).map(({ json }) => json.data);
  expect(sent).toHaveLength(2);
  for (const amount_usd of ["20", "5"]) {
    expect(sent).toContainEqual(expect.objectContaining({ amount_usd }));
  }
  expect((await deliveries()).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
});

test("a receiver that took nothing for 24 hours is disabled with a mail", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 503, headers: { "retry-after": "3600" } });
  await waiting(receiver.url, "failing@example.test");
  const { run, disabled, results } = startSender(database);
  await run();
  expect((await deliveries())[0]?.wait_ms).toBeCloseTo(HOUR_MS, -3);
  for (const hours of [5, 6, 6, 6]) {
    await letPass(database, hours * HOUR_MS);
    await run();
  }
  expect((await deliveries())[0]).toMatchObject({ status: "waiting", attempts: 5 });
  // The last attempt is at the end of the day.
  expect((await deliveries())[0]?.wait_ms).toBeLessThanOrEqual(HOUR_MS);
  await letPass(database, HOUR_MS + 60_000);
  await run();
  expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 6 }]);
  expect([results.at(-1), disabled]).toEqual(["failed", ["failing"]]);
  const mails = await mailbox.read("failing@example.test");
  expect(mails).toHaveLength(1);
  expect(mails[0]?.text).toContain("24 hours");
});

test("a receiver that was asked once, after all workers were away, is not disabled", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 503 });
  await waiting(receiver.url);
  const { run, disabled } = startSender(database);
  await letPass(database, 25 * HOUR_MS);
  await run();
  expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 1 }]);
  expect(disabled).toEqual([]);
});

test("accounts take turns, and failing receivers have only some of the places", async () => {
  const receiver = startReceiver();
  const { account, hook } = await waiting(receiver.url);
  for (let more = 0; more < 3; more += 1) await pay(world, account, usd("5"));
  const failing = [await waiting(receiver.url), await waiting(receiver.url)];
  await database.sql`
    UPDATE webhook_receivers SET failing_since = now() WHERE id <> ${hook.id}`;
  const other = await waiting(receiver.url);
  const order = { claimMs: 60_000, atMost: 3, failingMost: 1, busy: [] };
  const claims = await new WebhookDeliveries(database).claim(order);
  const ids = claims.map((claim) => claim.receiver.id);
  expect(new Set(ids)).toEqual(new Set([hook.id, failing[0]?.hook.id ?? "", other.hook.id]));
});

test("a receiver that took another event meanwhile is not disabled", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 500 });
  const { account } = await waiting(receiver.url);
  const { run, disabled } = startSender(database);
  await run();
  receiver.answer = () => new Response(null, { status: 200 });
  await pay(world, account, usd("5"));
  await run();
  receiver.answer = () => new Response(null, { status: 500 });
  await letPass(database, 1_000);
  await database.sql`
    UPDATE webhook_deliveries SET started_at = now() - interval '25 hours'
    WHERE status = 'waiting'`;
  await run();
  expect((await deliveries()).map(({ status }) => status)).toEqual(["failed", "delivered"]);
  expect(disabled).toEqual([]);
});

test("a worker that dies before its record leaves the event to another worker", async () => {
  const receiver = startReceiver();
  await waiting(receiver.url);
  const dying = new WebhookDeliveries(database);
  dying.delivered = () => Promise.reject(new Error("killed"));
  await startSender(database, { deliveries: dying }).run();
  const { run } = startSender(database);
  await run();
  expect(receiver.got).toHaveLength(1);
  await letPass(database, 60_000);
  await run();
  expect(receiver.got).toHaveLength(2);
  expect(receiver.got[1]?.json.id).toBe(receiver.got[0]?.json.id ?? "");
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 2 }]);
});

test("a worker that lost its claim does not undo the record of another", async () => {
  const receiver = startReceiver();
  await waiting(receiver.url);
  const gate = Promise.withResolvers<Response>();
  receiver.answer = () => gate.promise;
  const slow = startSender(database);
  await slow.sender.look();
  await eventually("the request came", () => receiver.got.length === 1);
  await letPass(database, 61_000);
  receiver.answer = () => new Response(null, { status: 200 });
  await startSender(database).run();
  gate.resolve(new Response(null, { status: 500 }));
  await slow.sender.settled();
  expect(await deliveries()).toMatchObject([{ status: "delivered", http_status: 200 }]);
});

test("of many workers one sends each event, and a slow receiver delays no other", async () => {
  const [quick, slow] = [startReceiver(), startReceiver()];
  const gate = Promise.withResolvers<Response>();
  slow.answer = async () => {
    await gate.promise;
    return new Response(null, { status: 204 });
  };
  const { account } = await waiting(quick.url);
  const other = (await waiting(slow.url)).account;
  for (let more = 0; more < 9; more += 1) {
    await pay(world, account, usd("5"));
    await pay(world, other, usd("5"));
  }
  const workers = [startSender(database), startSender(database), startSender(database)];
  await eventually("the quick receiver has all of its events", async () => {
    await Promise.all(workers.map(({ sender }) => sender.look()));
    return quick.got.length === 10;
  });
  expect(new Set(quick.got.map(({ json }) => json.id)).size).toBe(10);
  expect(slow.got.length).toBeLessThanOrEqual(12);
  gate.resolve(new Response(null, { status: 204 }));
  await Promise.all(workers.map(({ sender }) => sender.stop()));
  await eventually("the slow receiver has all of its events", async () => {
    await startSender(database).run();
    return slow.got.length === 10;
  });
});

test("the test button sends a signed event, at most ten a minute", async () => {
  const receiver = startReceiver();
  const account = await openAccount(world);
  const { id } = await receive(world, account, { url: receiver.url, events: ["balance.low"] });
  const target = { account: account.row, id, also };
  for (let sent = 0; sent < 10; sent += 1) await testReceiver(webhooksOf(world), target);
  await expect(testReceiver(webhooksOf(world), target)).rejects.toThrow("10 test events");
  const { run } = startSender(database);
  await run();
  expect(receiver.got[0]?.json).toMatchObject({ type: TEST_EVENT, data: { webhook: id } });
});

test("a disabled receiver gets nothing; once enabled, its missed events are replayed", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 410 });
  const { account, hook } = await waiting(receiver.url);
  const { run } = startSender(database);
  await run();
  const target = { account: account.row, id: hook.id, also };
  const since = new Date(Date.now() - DAY_MS);
  const replay = () =>
    replayDeliveries(database, account.row.number, {
      of: { receiver: hook.id, since },
      now: new Date(),
      also,
    });
  await letPass(database, 120_000);
  expect(await replay()).toBe(0);
  const terms = {
    url: receiver.url,
    description: "",
    events: ["payment.succeeded"],
    enabled: true,
  };
  await updateReceiver(webhooksOf(world), target, terms);
  expect(await replay()).toBe(1);
  expect(await replay()).toBe(0);
  receiver.answer = () => new Response(null, { status: 200 });
  await run();
  expect(receiver.got.map(({ json }) => json.id)).toEqual([
    receiver.got[0]?.json.id ?? "",
    receiver.got[0]?.json.id ?? "",
  ]);
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("a replay sends an event at once that waits for its next attempt", async () => {
  const receiver = startReceiver();
  receiver.answer = () => new Response(null, { status: 503 });
  const { account, hook } = await waiting(receiver.url);
  const { run } = startSender(database);
  await run();
  expect(await deliveries()).toMatchObject([{ status: "waiting", attempts: 1 }]);
  await database.sql`UPDATE webhook_deliveries SET next_attempt_at = now() + interval '4 hours',
    started_at = started_at - interval '2 minutes'`;
  receiver.answer = () => new Response(null, { status: 204 });
  const of = { receiver: hook.id, since: new Date(Date.now() - DAY_MS) };
  const replay = () =>
    replayDeliveries(database, account.row.number, { of, now: new Date(), also });
  await database.sql`UPDATE webhook_deliveries SET claimed_until = now() + interval '1 minute'`;
  expect(await replay()).toBe(0);
  await database.sql`UPDATE webhook_deliveries SET claimed_until = NULL`;
  expect(await replay()).toBe(1);
  await run();
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("a new address gets the events that wait at once", async () => {
  const [broken, mended] = [startReceiver(), startReceiver()];
  broken.answer = () => new Response(null, { status: 503 });
  const { account, hook } = await waiting(broken.url);
  const { run } = startSender(database);
  await run();
  const target = { account: account.row, id: hook.id, also };
  const terms = { description: "", events: ["payment.succeeded"], enabled: true };
  await updateReceiver(webhooksOf(world), target, { ...terms, url: mended.url });
  await run();
  expect(mended.got).toHaveLength(1);
  expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("old ended deliveries are deleted; a key stays, so no event is sent twice", async () => {
  const receiver = startReceiver();
  const { account, hook } = await waiting(receiver.url);
  await testReceiver(webhooksOf(world), { account: account.row, id: hook.id, also });
  await startSender(database).run();
  const store = new WebhookDeliveries(database);
  await store.expire();
  expect(await deliveries()).toHaveLength(2);
  await database.sql`UPDATE webhook_deliveries SET ended_at = ended_at - interval '31 days'`;
  await database.sql`UPDATE webhook_events SET created_at = created_at - interval '31 days'`;
  await store.expire();
  expect(await deliveries()).toEqual([]);
  const events = await database.sql`SELECT type, data, unique_key FROM webhook_events`;
  expect([...events]).toMatchObject([{ type: "payment.succeeded", data: null }]);
});
