import { sendTwice } from "../../../support/product/actor-process.ts";
import { openWorld, type World, type WorldOptions } from "../../../support/stores/world.ts";

/**
 * Opens a world on one kind of stores; each suite of money gets a factory, and runs on each kind.
 */
export type WorldFactory = (options?: WorldOptions) => Promise<World>;

/** One server behind a client that sends every script twice and returns the second answer. */
export const openSentTwice: WorldFactory = async (options) => {
  const world = await openWorld(options);
  sendTwice(world.redis);
  return world;
};
