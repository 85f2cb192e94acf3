// Tests changes while the product runs: a stopping process, pauses, configuration, keys.

import { expect, test } from "bun:test";
import { revokeKey } from "../../../src/accounts/administration.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { Pauses } from "../../../src/store/operators/pauses.ts";
import { askChat, postChat, readStream } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { type Api, startProduct } from "../../support/product/product.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

/** Some 4 seconds long: longer than a busy machine takes to notice that a process is leaving. */
const STREAM = { id: "stream", mood: "tokens-40-every-100" };
/** Some 40 seconds long. */
const LONG_STREAM = { id: "long-stream", mood: "tokens-400-every-100" };
const MODELS = [{ id: "ok" }, STREAM, LONG_STREAM];

const product = await shared(startProduct({ models: MODELS }));

/** Opens streams and waits until each has brought a first piece of text. */
async function openStreams(api: Api, account: TestAccount, count: number, model = "stream") {
  const aborts = Array.from({ length: count }, () => new AbortController());
  const started = aborts.map(() => Promise.withResolvers<void>());
  const streams = aborts.map(async ({ signal }, index) => {
    const options = { model, stream: true, signal };
    const response = await postChat(api.url, account.key, options);
    return await readStream(response, () => started[index]?.resolve());
  });
  await Promise.all(started.map(({ promise }) => promise));
  const abort = () => {
    for (const controller of aborts) controller.abort();
  };
  return { answers: Promise.all(streams), abort };
}

async function heldOf({ id, bucket }: TestAccount) {
  const { wallet } = await product.operator.actors.of(id, bucket).state();
  return { held: wallet.heldPaid + wallet.heldFree, streams: wallet.streams };
}

test("a stopping process ends its streams, and loses none", async () => {
  const account = await product.account({ paid: "10", contract: "enterprise" });
  const leaving = product.api(0);
  const { answers } = await openStreams(leaving, account, 50);
  const stopping = leaving.stop();
  await eventually("it takes no new connection", async () => {
    const refused = await askChat(leaving.url, account.key).catch(() => null);
    return refused === null;
  });
  expect(leaving.isRunning).toBe(true);
  expect(await askChat(product.api(1).url, account.key)).toMatchObject({ status: 200 });
  const ended = await answers;
  expect(ended.every(({ isWhole, code }) => isWhole && code === null)).toBe(true);
  await stopping;
  expect(await leaving.exited).toEqual({ code: 0, signal: null });
  expect(await heldOf(account)).toEqual({ held: 0n, streams: 0 });

  const { sql } = product.operator.database;
  const requests = ended.map(({ requestId }) => toUuid(requestId));
  await eventually("all of them are in the log", async () => {
    const rows = await sql`SELECT cost FROM request_log WHERE request IN ${sql(requests)}`;
    return rows.length === 50;
  });
  const [charged] = await sql`SELECT -sum(paid_delta + free_delta)::bigint AS sum
    FROM ledger_entries WHERE request IN ${sql(requests)}`;
  const told = ended.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  expect(BigInt(charged?.sum ?? 0)).toBe(told);
  expect(await product.audit()).toMatchObject({ difference: null });
  await leaving.start();
});

test("a stopping process settles the streams that their callers leave", async () => {
  const account = await product.account({ paid: "10", contract: "enterprise" });
  const leaving = product.api(0);
  for (let round = 0; round < 3; round += 1) {
    const { answers, abort } = await openStreams(leaving, account, 50);
    const stopping = leaving.stop();
    abort();
    await Promise.all([answers, stopping]);
    expect(await leaving.exited).toEqual({ code: 0, signal: null });
    expect(await heldOf(account)).toEqual({ held: 0n, streams: 0 });
    await leaving.start();
  }
});

test("a stopping process reports it, and interrupts calls that last too long", async () => {
  const account = await product.account({ paid: "10", contract: "enterprise" });
  const leaving = product.api(0);
  await leaving.stop();
  await leaving.start({ env: { DRAIN_NOTICE_SECONDS: "1", DRAIN_SECONDS: "1" } });
  const { answers } = await openStreams(leaving, account, 10, "long-stream");
  const stopping = leaving.stop();
  await eventually("/readyz says that it is leaving", async () => {
    const response = await fetch(`${leaving.url}/readyz`);
    const { checks } = (await response.json()) as { readonly checks: Record<string, string> };
    return response.status === 503 && checks.process === "This process is being stopped";
  });
  expect(await askChat(leaving.url, account.key)).toMatchObject({ status: 200 });
  const ended = await answers;
  const ends = new Set(ended.map(({ isWhole, code }) => `${isWhole} ${code}`));
  expect([...ends]).toEqual(["false service_unavailable"]);
  await stopping;
  expect(await leaving.exited).toEqual({ code: 0, signal: null });
  expect(await heldOf(account)).toEqual({ held: 0n, streams: 0 });
  const { sql } = product.operator.database;
  const requests = ended.map(({ requestId }) => toUuid(requestId));
  await eventually("each was charged for what was sent", async () => {
    const rows = await sql`SELECT cost FROM request_log WHERE request IN ${sql(requests)}
      AND completion_tokens BETWEEN 1 AND 399 AND cost > 0`;
    return rows.length === 10;
  });
  expect(await product.audit()).toMatchObject({ difference: null });
  await leaving.start();
});

test("a process stopped while Redis is away settles when it is back", async () => {
  const account = await product.account({ paid: "10", contract: "enterprise" });
  const leaving = product.api(0);
  const { answers } = await openStreams(leaving, account, 10);
  await product.redis.kill9();
  const stopping = leaving.stop();
  const ended = await answers;
  expect(ended.every(({ isWhole, cost }) => isWhole && cost !== null)).toBe(true);
  await product.redis.start();
  await stopping;
  expect(await leaving.exited).toEqual({ code: 0, signal: null });
  expect(await heldOf(account)).toEqual({ held: 0n, streams: 0 });
  await leaving.start();
});

test("a switch takes effect on every process, and costs nothing", async () => {
  const account = await product.account({ contract: "enterprise" });
  const { database } = product.operator;
  const pauses = new Pauses({ database, log: { warn: () => {} } });
  const askAll = (model: string) =>
    Promise.all(product.apis.map(({ url }) => askChat(url, account.key, { model })));
  for (const [target, others] of [
    ["chat", 503],
    ["model:ok", 200],
  ] as const) {
    await pauses.pause(target);
    await eventually("every process refuses", async () => {
      const answers = await askAll("ok");
      return answers.every(({ code, cost }) => code === "model_unavailable" && cost === 0n);
    });
    expect((await askAll("stream")).map(({ status }) => status)).toEqual([others, others]);
    await pauses.resume(target);
    await eventually("every process serves", async () => {
      return (await askAll("ok")).every(({ status }) => status === 200);
    });
  }
});

test("a new configuration takes effect on every process without a restart", async () => {
  const account = await product.account({ contract: "enterprise" });
  const born = product.apis.map(({ log }) => log.length);
  const askAll = () =>
    Promise.all(product.apis.map(({ url }) => askChat(url, account.key, { model: "new" })));
  expect((await askAll()).map(({ code }) => code)).toEqual(Array(2).fill("model_not_found"));
  product.writeCatalogue([...MODELS, { id: "new", mood: "ok", input: "3", output: "7" }]);
  await eventually("every process serves the new model", async () => {
    return (await askAll()).every(({ cost }) => cost === 92_000n);
  });
  product.writeCatalogue(MODELS);
  await eventually("no process serves it any more", async () => {
    return (await askAll()).every(({ code }) => code === "model_not_found");
  });
  for (const [index, { log, isRunning }] of product.apis.entries()) {
    expect(isRunning).toBe(true);
    const since = log.slice(born[index] ?? 0).map(({ msg }) => msg);
    expect(since.filter((msg) => msg.startsWith("Farebox listens"))).toEqual([]);
  }
});

test("a revoked key is refused by the next request on the other process", async () => {
  // A key that is new to a process and one that is refused count for the address, which has 60.
  for (let round = 0; round < 5; round += 1) {
    const account = await product.account();
    for (const { url } of product.apis) {
      expect(await askChat(url, account.key)).toMatchObject({ status: 200 });
    }
    await revokeKey(product.operator.administration, account.keyId);
    for (const { url } of [...product.apis].reverse()) {
      const answer = await askChat(url, account.key);
      expect(answer).toMatchObject({ status: 401, code: "invalid_api_key", cost: 0n });
    }
  }
});
