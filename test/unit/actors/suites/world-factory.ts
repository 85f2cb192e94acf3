import { sendTwice } from "../../../support/product/actor-process.ts";
import { testRedisUrl } from "../../../support/stores/services.ts";
import { openWorld, type World, type WorldOptions } from "../../../support/stores/world.ts";

/** Opens a world on one kind of stores; each suite of money is given one, and runs on each kind. */
export type WorldFactory = (options?: WorldOptions) => Promise<World>;

/** A kind of stores, and where a second process finds the same ones. */
export interface Place {
  readonly open: WorldFactory;
  readonly redisUrl: () => Promise<string>;
}

export const SINGLE_SERVER: Place = { open: openWorld, redisUrl: testRedisUrl };

/** One server behind a client that sends every script twice and hears the second answer. */
export const SENT_TWICE: Place = {
  open: async (options) => {
    const world = await openWorld(options);
    sendTwice(world.redis);
    return world;
  },
  redisUrl: testRedisUrl,
};
