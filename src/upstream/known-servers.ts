// Remembers the state of upstream servers in this process: how many requests each has now, and
// which are given up.

import { LRUCache } from "lru-cache";
import type { Clock } from "../core/clock.ts";
import { Breaker } from "./breaker.ts";
import { Slots } from "./slots.ts";
import type { ServerView } from "./upstream-board.ts";

/** The part of a server that matters for choosing one. */
export interface Server {
  readonly name: string;
  /** Distinguishes servers of the same name after the configuration has changed. */
  readonly baseUrl: string;
  /** The maximum of simultaneous requests; further ones go to the next server. */
  readonly concurrencyMax: number;
}

interface KnownBreaker {
  readonly server: string;
  readonly subject: string;
  readonly breaker: Breaker;
}

/**
 * The most servers, and the most subjects on them, that are remembered. A configuration has fewer;
 * those of earlier configurations are forgotten first, and start without failures when used again.
 */
export const SERVERS_MAX = 1_024;
export const BREAKERS_MAX = 4_096;

/** Slots belong to a server, whatever is requested. */
const ALL_SUBJECTS = "";

export class KnownServers {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #breakers = new LRUCache<string, KnownBreaker>({ max: BREAKERS_MAX });
  readonly #slots = new LRUCache<string, Slots>({ max: SERVERS_MAX });
  /** The names of breakers by subject: finding one by a new text costs several times as much. */
  readonly #names = new WeakMap<Server, Map<string, string>>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  breakerOf(server: Server, subject: string): Breaker {
    const name = this.#nameOf(server, subject);
    return this.#breakers.get(name)?.breaker ?? this.#newBreaker(server, subject, name);
  }

  #newBreaker({ name: server }: Server, subject: string, name: string): Breaker {
    const breaker = new Breaker(() => this.#clock.monotonicMs());
    this.#breakers.set(name, { server, subject, breaker });
    return breaker;
  }

  slotsOf(server: Server): Slots {
    const name = this.#nameOf(server, ALL_SUBJECTS);
    let slots = this.#slots.get(name);
    if (slots === undefined) {
      slots = new Slots(server.concurrencyMax);
      this.#slots.set(name, slots);
    }
    slots.resize(server.concurrencyMax);
    return slots;
  }

  /** The state of each server that received a request. */
  views(): ServerView[] {
    return [...this.#breakers.values()].map(({ server, subject, breaker }) => {
      const { isPassable, failures } = breaker;
      return { server, subject, isPassable, failures };
    });
  }

  #nameOf(server: Server, subject: string): string {
    let names = this.#names.get(server);
    if (names === undefined) {
      names = new Map();
      this.#names.set(server, names);
    }
    let name = names.get(subject);
    if (name === undefined) {
      name = `${server.name} ${server.baseUrl} ${subject}`;
      names.set(subject, name);
    }
    return name;
  }
}
