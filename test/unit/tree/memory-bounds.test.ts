// Checks that everything that a process remembers has a bound, and a row in the table of
// docs/operating.md.

import { describe, expect, spyOn, test } from "bun:test";
import { ACTORS_MAX } from "../../../actors/account-actors.ts";
import { REFUSED_KEYS_MAX, RefusalBrake, type RefusedKey } from "../../../actors/refusal-brake.ts";
import { REMEMBERED } from "../../../scripts/docs/remembered.ts";
import { newId } from "../../../src/core/ids.ts";
import {
  ABANDONING_KEYS_MAX,
  AbandonedStreams,
} from "../../../src/services/chat/abandoned-streams.ts";
import { TIME_ZONES_MAX, utcOffset } from "../../../src/services/maps/providers/territory.ts";
import { Accounts } from "../../../src/store/accounts/accounts.ts";
import { RowNumbers } from "../../../src/store/ledger/row-numbers.ts";
import { openDatabase } from "../../../src/store/servers/database.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { random } from "../../support/random.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { ask, openAccount, openWorld, usd } from "../../support/stores/world.ts";
import { readTree } from "./tidy-source.ts";

describe("the table", () => {
  // A collection that is a constant of a module, or a field of a class: it may live on.
  const COLLECTION = String.raw`(?:new (?:Map|Set|WeakMap|WeakSet|LRUCache|OpenWork)\b|\[\];)`;
  const MODULE = new RegExp(
    String.raw`^(?:export )?(?:const|let) (\w+)(?:: (.+?))? = ${COLLECTION}`,
    "gm",
  );
  const FIELD = new RegExp(
    String.raw`^ {2}(?:readonly )?(#?\w+)(?:: (.+?))? = ${COLLECTION}`,
    "gm",
  );
  /** Collections that end with a call, a file or a document, or that never grow. */
  const SHORT_LIVED = [
    "actors/account-actors.ts #timers",
    "src/services/chat/doors/messages/messages-history.ts #hidden",
    "src/services/chat/doors/messages/messages-history.ts #open",
    "src/services/chat/doors/messages/passed-events.ts #open",
    "src/services/chat/doors/responses/passed-output.ts #open",
    "src/services/chat/doors/responses/passed-output.ts #done",
    "src/services/chat/doors/responses/response-output.ts #items",
    "src/services/chat/doors/responses/response-output.ts #calls",
    "src/services/chat/doors/responses/search/round-reply.ts #calls",
    "src/services/chat/doors/responses/search/search-items.ts #items",
    "src/services/chat/doors/responses/search/search-items.ts #open",
    "src/services/chat/doors/responses/search/search-items.ts #titles",
    "src/services/chat/doors/responses/search/search-rounds.ts #ended",
    "src/services/chat/doors/responses/search/search-rounds.ts #ofSearch",
    "src/services/chat/doors/responses/search/search-stream.ts #steps",
    "src/services/search/tool-search.ts #replies",
    "src/services/chat/doors/responses/referred-items.ts #byId",
    "src/services/chat/doors/responses/referred-items.ts #opened",
    "src/services/chat/doors/responses/referred-items.ts #referred",
    "src/services/chat/doors/responses/responses-prompt.ts #messages",
    "src/services/chat/doors/responses/responses-prompt.ts #media",
    "src/services/chat/doors/messages/message-events.ts #calls",
    "src/services/chat/doors/messages/messages-history.ts #open",
    "src/services/chat/doors/messages/messages-history.ts #hidden",
    "src/services/chat/protocols/chat-provider.ts #deltas",
    "src/services/chat/protocols/sticky-routes.ts #candidates",
    "src/services/chat/protocols/ai-sdk/sdk-reply.ts #calls",
    "src/services/chat/protocols/ai-sdk/sdk-reply.ts #openThoughts",
    "src/services/chat/protocols/ai-sdk/sdk-reply.ts #thoughts",
    "src/services/chat/protocols/openai/tool-calls.ts #calls",
    "src/services/chat/protocols/openai/tool-calls.ts #ids",
    "src/services/mail/providers/bounce-listener.ts #pieces",
    "src/services/search/providers/plain-text.ts #missing",
    // The classes that have open work have the rows.
    "src/core/open-work.ts #open",
    "src/core/open-work.ts #waiting",
    "src/core/latency-bands.ts #counts",
    "src/store/tables/parameters.ts values",
    "src/core/journal/ledger-replay.ts spent",
    "src/core/journal/ledger-replay.ts budgets",
    "src/core/journal/ledger-replay.ts earlierEnds",
    "src/http/docs/openapi-schema.ts #components",
    "src/http/docs/openapi-schema.ts #sources",
    "src/services/chat/protocols/chat-extras.ts NO_EXTRAS",
    "src/services/chat/chat-stream.ts #unread",
    "src/services/chat/served-model.ts tried",
    "src/annexes/atlas/label-space.ts #taken",
    "src/core/configuration/located-json.ts numbers",
    "src/core/configuration/located-json.ts offsets",
    "src/core/brand/logo.ts #open",
    "src/core/brand/logo.ts #written",
    "src/readings/signed/awaited-receipts.ts #waiting",
    "src/calls/call-quote.ts #asked",
  ];

  const found = readTree()
    // An import and the setup are commands of their own, which end.
    .filter(({ path }) =>
      /^(?:src(?!\/(?:annexes\/(?:imports|prices)|cli\/setup)\/)|actors|workers)\/.*\.ts$/.test(
        path,
      ),
    )
    .flatMap((file) =>
      [MODULE, FIELD].flatMap((pattern) =>
        [...file.text.matchAll(pattern)]
          // Leaves out constants that cannot grow.
          .filter(([whole, , type = ""]) => whole.startsWith("  ") || !/^Readonly/.test(type))
          .map(([, name]) => `${file.path} ${name}`),
      ),
    );
  const rows = REMEMBERED.flatMap(({ holders }) => holders);

  test("has every collection that outlives a call", () => {
    const known = new Set([...rows, ...SHORT_LIVED]);
    expect(found.filter((one) => !known.has(one))).toEqual([]);
  });

  test("names only existing collections", () => {
    const sources = new Map(readTree().map(({ path, text }) => [path, text]));
    const isThere = (holder: string) => {
      const [path = "", name = ""] = holder.split(" ");
      return new RegExp(`${name}\\b[^\\n]* = |${name}[:;]`).test(sources.get(path) ?? "");
    };
    expect([...rows, ...SHORT_LIVED].filter((one) => !isThere(one))).toEqual([]);
  });
});

test("beyond the bound of actors the oldest is dropped, but none with an open call", async () => {
  await using world = await openWorld();
  const busy = await openAccount(world, { paid: "5" });
  await busy.actor.admit(ask(busy.keyId, usd("1")));
  const idle = world.accounts.of("acc_idle", 0);
  for (let other = 0; other < ACTORS_MAX; other += 1) world.accounts.of(`acc_${other}`, 0);
  expect(world.accounts.of("acc_idle", 0)).not.toBe(idle);
  expect(world.accounts.of(busy.row.id, busy.row.bucket)).toBe(busy.actor);
});

test("beyond the bound of refused keys the brake leaves further ones to Redis", () => {
  const deps = { clock: { now: () => 1_000 }, log: { warn: () => {} }, scripts: {}, owner: "one" };
  const brake = new RefusalBrake(deps as unknown as ConstructorParameters<typeof RefusalBrake>[0]);
  const rate = { limit: 0, remaining: 0, resetSeconds: 1 };
  const refused = { code: "rate_limit_exceeded", rate } as const;
  const of = (keyId: string) => ({ keyId }) as RefusedKey;
  const isRefused = (keyId: string) => brake.refuse(ask(keyId, usd("0")).call) !== null;
  for (let key = 0; key < REFUSED_KEYS_MAX; key += 1) brake.note(of(`key_${key}`), refused);
  brake.note(of("key_more"), refused);
  expect([isRefused("key_0"), isRefused("key_more")]).toEqual([true, false]);
});

test("beyond the bound of keys that left streams the oldest is forgotten", async () => {
  const streams = new AbandonedStreams(new FakeClock());
  const signal = new AbortController().signal;
  // Each abandoned stream leaves two entries: of the key and of its account.
  const turn = (key: string) => streams.turn({ accountId: `acct_${key}`, keyId: key }, 60, signal);
  const leaveOften = async (key: string) => {
    for (let left = 0; left < 21; left += 1) (await turn(key)).abandon();
  };
  const isSlow = async (key: string) => {
    const turns = [turn(key), turn(key)];
    const first = await turns[0];
    await Promise.resolve();
    const waits = turns[1] !== undefined && Bun.peek.status(turns[1]) === "pending";
    first?.end();
    (await turns[1])?.end();
    return waits;
  };
  await leaveOften("first");
  await leaveOften("second");
  expect([await isSlow("first"), await isSlow("second")]).toEqual([true, true]);
  for (let key = 0; key < ABANDONING_KEYS_MAX / 2 - 1; key += 1) {
    (await turn(`key_${key}`)).abandon();
  }
  expect([await isSlow("first"), await isSlow("second")]).toEqual([false, true]);
});

test("beyond the bound of time zones the least recently used one is made again", () => {
  const made = spyOn(Intl, "DateTimeFormat");
  try {
    const spelt = (number: number) =>
      [..."europe/berlin"]
        .map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter))
        .join("");
    const zones = Array.from({ length: 4_096 }, (_, number) => spelt(number));
    const names = [...new Set(zones)].slice(0, TIME_ZONES_MAX + 1);
    for (const name of names) utcOffset(name, 0);
    const before = made.mock.calls.length;
    utcOffset(names.at(-1) ?? "", 0);
    expect(made.mock.calls.length - before).toBe(0);
    utcOffset(names[0] ?? "", 0);
    expect(made.mock.calls.length - before).toBe(1);
  } finally {
    made.mockRestore();
  }
});

test("numbers are read again beyond the bound, and a larger batch has all its own", async () => {
  await using store = await createTestDatabase();
  const database = openDatabase(store.url);
  try {
    const accounts = new Accounts({ database, random, keyPepper: "pepper" });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push((await accounts.create({ surface: "gateway", email: null }, new Date())).id);
    }
    let statements = 0;
    const sql = (...given: Parameters<typeof database.sql>) => {
      statements += 1;
      return database.sql(...given);
    };
    const numbers = new RowNumbers({ sql: sql as typeof database.sql }, 2);
    const of = async (some: readonly string[]) => {
      const items = some.map((account) => ({ entry: { account, key: "" } }));
      return [...(await numbers.of(items as never)).accounts.keys()].sort();
    };
    expect(await of(ids)).toEqual([...ids].sort());
    expect(statements).toBe(1);
    expect(await of(ids.slice(1))).toEqual(ids.slice(1).sort());
    expect(statements).toBe(1);
    expect(await of([...ids, newId("account", random)])).toEqual([...ids].sort());
    expect(statements).toBe(2);
  } finally {
    await database.close();
  }
});
