// Kills the API process between two rounds of a response whose model searches.

import { expect, test } from "bun:test";
import { holdsKey } from "../../../actors/records/keys.ts";
import { parseHold } from "../../../actors/records/records.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { usd } from "../../../src/core/money/money.ts";
import { FORMS, inForm, searching } from "../../support/api/search-tool-world.ts";
import { eventually } from "../../support/eventually.ts";
import { startFakeSearch } from "../../support/fakes/fake-search.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { startProduct } from "../../support/product/product.ts";

const [CHAT] = FORMS;
/** A round and the two results of its search, as in search-tool-world.ts. */
const LEFT = usd("4.998976");
/** Holds are swept once their lease has ended; a busy machine takes longer. */
const SWEPT_MS = LEASE_MS + 120_000;

test("kill -9 between two rounds charges the searches so far, and frees the rest", async () => {
  await using server = await startWireServer();
  await using finder = startFakeSearch("searxng");
  await using product = await startProduct({
    upstreamUrl: server.url,
    models: [{ id: "searcher", input: "1", output: "2" }],
    search: { tool: {}, providers: [{ kind: "searxng", base_url: finder.baseUrl }] },
  });
  const account = await product.account({ contract: "enterprise", paid: "5", free: "0" });
  const view = () => account.actor.view(account.keyId);
  server.queue(inForm(CHAT, searching("fares")), { body: [], end: "hang" });
  const answer = fetch(`${product.api(0).url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify({
      model: "searcher",
      input: "What is the fare?",
      tools: [{ type: "web_search" }],
    }),
  }).then(
    () => "answered",
    () => "cut",
  );
  await eventually("the second round is asked for", () => server.requests.length === 2);
  await eventually("Redis has the cost of the search", async () => {
    const { redis } = product.operator.actors.scripts;
    const hashes = await redis.keys(holdsKey(account.bucket, "*"));
    const holds = (await Promise.all(hashes.map((hash) => redis.hvalsBuffer(hash)))).flat();
    return holds.map(parseHold).some(({ checkpoint }) => checkpoint === usd("0.001"));
  });
  await product.api(0).kill9();
  expect(await answer).toBe("cut");
  const isSwept = async () => (await view()).heldPaid === usd("0");
  await eventually("the holds of the dead process are swept", isSwept, SWEPT_MS);
  expect((await view()).paid).toBe(LEFT);
  expect((await product.audit()).difference).toBeNull();
}, 300_000);
