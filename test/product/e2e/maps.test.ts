// Tests every maps action against the running product: by servers of the configuration, faked if
// they cannot be run, and after a reload by the embedded provider.

import { expect, test } from "bun:test";
import { ACTIONS, type MapsAction } from "../../../src/services/maps/actions.ts";
import { EXAMPLES } from "../../../src/services/maps/maps-examples.ts";
import { EMBEDDED_ACTIONS } from "../../../src/services/maps/servers.ts";
import { eventually } from "../../support/eventually.ts";
import { CASES, type Case } from "../../support/fakes/maps-cases.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared, sharedServer } from "../../support/shared.ts";

const NAMES = Object.keys(ACTIONS) as MapsAction[];
const STANDARD = 50_000n;
const TILES = 5_000n;

/** One case for each action; a template is not an address that a path can be appended to. */
const CASE_OF = new Map<string, Case>(
  CASES.filter(({ kind }) => kind !== "static-map").map((one) => [one.action, one]),
);

const base = `http://127.0.0.1:${sharedServer(answer).port}`;
const servers = [...CASE_OF].map(([action, { kind }]) => [
  action,
  { kind, base_url: `${base}/${action}`, api_key_env: "MAPS_KEY" },
]);
const product = await shared(
  startProduct({
    maps: {
      providers: Object.fromEntries(servers),
      actions: Object.fromEntries(NAMES.map((action) => [action, [action]])),
    },
    env: { MAPS_KEY: "key-of-the-maps-server" },
  }),
);
const account = await product.account({ paid: "50", scopes: ["maps"], contract: "enterprise" });

/** Answers for the server of the action at the start of the path. */
function answer(request: Request): Response {
  const action = new URL(request.url).pathname.split("/")[1] ?? "";
  const reply = CASE_OF.get(action)?.reply;
  if (reply instanceof Uint8Array) return new Response(Uint8Array.from(reply));
  return Response.json(reply ?? null, { status: reply === undefined ? 404 : 200 });
}

interface Answer {
  readonly status: number;
  readonly cost: string | null;
  readonly body: { readonly data?: object; readonly provider?: string; readonly error?: object };
}

async function ask(query: string, api = 0): Promise<Answer> {
  const headers = { "x-api-key": account.key };
  const reply = await fetch(`${product.api(api).url}/v1/maps?${query}`, { headers });
  const cost = reply.headers.get("x-svc-cost-usd");
  return { status: reply.status, cost, body: (await reply.json()) as Answer["body"] };
}

async function spent(): Promise<bigint> {
  await product.booked();
  const [row] = await product.operator.database.sql`
    SELECT coalesce(sum(-paid_delta), 0)::bigint AS spent FROM ledger_entries
    WHERE kind = 'charge'`;
  return BigInt(row?.spent ?? 0);
}

test("every action is served by its configured server, at its price in the ledger", async () => {
  expect([...CASE_OF.keys()].sort()).toEqual([...NAMES].sort());
  let due = 0n;
  for (const [index, action] of NAMES.entries()) {
    const asked = CASE_OF.get(action);
    const isTile = ACTIONS[action].category === "tiles";
    const { status, cost, body } = await ask(`action=${action}&${asked?.query}`, index % 2);
    expect([action, status, body.error]).toEqual([action, 200, undefined]);
    expect(body.provider).toBe(asked?.kind);
    expect(Object.keys(body.data ?? {})).toEqual(Object.keys(EXAMPLES[action].data));
    expect(cost).toBe(isTile ? "0.000005" : "0.00005");
    due += isTile ? TILES : STANDARD;
  }
  expect(await spent()).toBe(due);
});

test("the embedded provider serves as soon as the file names no servers any more", async () => {
  product.writeCatalogue([{ id: "ok" }]);
  await eventually("the file was read again", async () => {
    const answers = await Promise.all([0, 1].map((api) => ask("action=weather&lat=1&lon=1", api)));
    return answers.every(({ status }) => status === 503);
  });
  const before = await spent();
  let due = 0n;
  for (const [index, action] of EMBEDDED_ACTIONS.entries()) {
    const { status, body } = await ask(`action=${action}&${EXAMPLES[action].query}`, index % 2);
    expect([action, status, body.provider]).toEqual([action, 200, "embedded"]);
    due += ACTIONS[action].category === "tiles" ? TILES : STANDARD;
  }
  expect((await spent()) - before).toBe(due);
});

test("200 parallel calls on a balance worth K over two processes: exactly K pass", async () => {
  const poor = await product.account({ paid: "0.00152", scopes: ["maps"], contract: "enterprise" });
  const headers = { "x-api-key": poor.key };
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const url = `${product.api(index % 2).url}/v1/maps?action=place_at&lat=50&lon=${index % 90}`;
      const reply = await fetch(url, { headers });
      await reply.arrayBuffer();
      return reply.status;
    }),
  );
  expect(answers.filter((status) => status === 200)).toHaveLength(30);
  expect(answers.filter((status) => status === 402)).toHaveLength(170);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});
