import { describe, expect, test } from "bun:test";
import { newId } from "../../../../src/core/ids.ts";
import { MAIL_QUEUE, MAIL_QUEUE_PREFIX, MailQueue } from "../../../../src/store/mail/mail-queue.ts";
import {
  PAYMENT_QUEUE,
  PAYMENT_QUEUE_PREFIX,
  PaymentQueue,
} from "../../../../src/store/payments/payment-queue.ts";
import { QUEUE_EVENTS_MAX } from "../../../../src/store/servers/queue-streams.ts";
import { openRedis } from "../../../../src/store/servers/redis.ts";
import { random } from "../../../support/random.ts";
import { testRedisUrl } from "../../../support/stores/services.ts";

/** Redis removes entries of a stream a block at a time. */
const BLOCK = 100;
const fail = (error: unknown) => {
  throw error;
};

describe("the events of a queue are bounded", async () => {
  const url = await testRedisUrl();
  const connect = () => openRedis(url, "queue");
  const queues = {
    [`${MAIL_QUEUE_PREFIX}:${MAIL_QUEUE}`]: () => {
      const queue = new MailQueue(connect(), fail);
      return { add: () => queue.add(newId("message", random), 0), close: () => queue.close() };
    },
    [`${PAYMENT_QUEUE_PREFIX}:${PAYMENT_QUEUE}`]: () => {
      const queue = new PaymentQueue(connect(), fail);
      const event = () => ({ provider: "stripe", id: newId("request", random) }) as const;
      return { add: () => queue.addEvent(event()), close: () => queue.close() };
    },
  };
  for (const [name, open] of Object.entries(queues)) {
    test(`of ${name}`, async () => {
      const { add, close } = open();
      await add();
      for (let added = 1; added < QUEUE_EVENTS_MAX; added += BLOCK) {
        await Promise.all(Array.from({ length: BLOCK }, add));
      }
      const redis = openRedis(url);
      const events = await redis.xlen(`${name}:events`);
      redis.disconnect();
      await close();
      expect(events).toBeGreaterThan(QUEUE_EVENTS_MAX / 2);
      expect(events).toBeLessThan(QUEUE_EVENTS_MAX + 2 * BLOCK);
    });
  }
});
