// Provokes the refusals of calls for their Idempotency-Key.

import { limitKey } from "../../../actors/records/keys.ts";
import { IDEMPOTENCY } from "../../../src/core/access/limits.ts";
import { closedGate } from "../gate.ts";
import { createTestKey, type TestAccount } from "../stores/accounts.ts";
import { until } from "./api-world.ts";
import type { ErrorDoor } from "./error-door.ts";
import { replaceAnswers } from "./replace-answers.ts";

export const KEYED = { headers: { "idempotency-key": "one key" } };

const send = (door: ErrorDoor, account: Pick<TestAccount, "key">) => door.send(account, KEYED);

/** By error code. */
export const idempotencyRefusals = {
  idempotency_key_mismatch: async (door: ErrorDoor) => {
    const account = await door.open();
    await (await send(door, account)).text();
    const { method, examples } = door.endpoint;
    const query = `${examples[0]?.query}&`;
    const changes = method === "GET" ? { query } : { text: `${door.text()} ` };
    return await door.send(account, { ...KEYED, ...changes });
  },
  idempotency_in_progress: async (door: ErrorDoor) => {
    const account = await door.open();
    const gate = closedGate();
    const restore = replaceAnswers(door.api, async (answer) => {
      await gate.pass();
      return await answer();
    });
    const first = send(door, account);
    try {
      await until(() => gate.arrivals > 0, "the first request reached its server");
      return await send(door, account);
    } finally {
      restore();
      gate.open();
      await (await first).text();
    }
  },
  /** The answer is sealed by the key of the first request, so another key does not get it. */
  idempotency_already_charged: async (door: ErrorDoor) => {
    const account = await door.open();
    await (await send(door, account)).text();
    const { accounts } = door.api.parts.stores;
    const { secret: key } = await createTestKey(accounts, account.row);
    await account.actor.configure();
    return await send(door, { key });
  },
  too_many_idempotency_keys: async (door: ErrorDoor) => {
    const account = await door.open();
    const { redis } = door.api.parts.stores;
    const of = { bucket: account.row.bucket, account: account.row.id };
    const record = Buffer.alloc(16);
    record.writeDoubleLE(Math.floor(Date.now() / 86_400_000));
    record.writeDoubleLE(IDEMPOTENCY.keysPerDay, 8);
    await redis.set(limitKey(of, "idempotency_keys"), record);
    return await send(door, account);
  },
};
