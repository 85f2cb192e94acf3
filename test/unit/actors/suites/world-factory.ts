import { sendTwice } from "../../../support/product/actor-process.ts";
import { testRedisUrl } from "../../../support/stores/services.ts";
import { openWorld, type World, type WorldOptions } from "../../../support/stores/world.ts";

/**
 * Opens a world on one kind of stores; each suite of money gets a factory, and runs on each kind.
 */
export type WorldFactory = (options?: WorldOptions) => Promise<World>;

/** A kind of stores, and the address at which a second process finds the same ones. */
export interface StoreKind {
  readonly open: WorldFactory;
  readonly redisUrl: () => Promise<string>;
}

export const SINGLE_SERVER: StoreKind = { open: openWorld, redisUrl: testRedisUrl };

/** One server behind a client that sends every script twice and returns the second answer. */
export const SENT_TWICE: StoreKind = {
  open: async (options) => {
    const world = await openWorld(options);
    sendTwice(world.redis);
    return world;
  },
  redisUrl: testRedisUrl,
};
