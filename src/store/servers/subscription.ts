// Notifications of Postgres. The driver's own `listen` never asks again where Postgres refuses it
// once on a new connection, as a standby does until it takes over (D-418).

import postgres from "postgres";

/** The listener of a channel. */
export interface ChannelListener {
  /** Called at each notification, and whenever some may have been missed. */
  readonly onChange: () => void;
  /** Called when notifications cannot be had now; that is tried again. */
  readonly onRefused: (error: unknown) => void;
}

/** A connection over which notifications come. */
interface Connection {
  /** Resolves when it is lost. */
  readonly lost: Promise<void>;
}

const ENDED: Connection = { lost: Promise.resolve() };

type Settings = postgres.Options<Record<string, postgres.PostgresType>>;

const PAUSE_MS = { first: 100, most: 10_000 } as const;
const END = { timeout: 0 } as const;

/** Does not keep a program from ending. */
function unreferencedPause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

interface SubscriptionTerms {
  readonly channel: string;
  readonly listener: ChannelListener;
  /** Waits between two attempts; replaced by tests. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Follows a channel over a connection of its own. */
export class Subscription {
  readonly #sql: postgres.Sql;
  readonly #statement: string;
  readonly #listener: ChannelListener;
  readonly #pause: (ms: number) => Promise<void>;
  /** Called when the connection is lost, or the subscription has ended. */
  #onLost: () => void = () => {};
  #hasEnded = false;

  constructor(
    url: string,
    settings: Settings,
    { channel, listener, pause = unreferencedPause }: SubscriptionTerms,
  ) {
    const own = {
      max: 1,
      max_lifetime: null,
      fetch_types: false,
      onnotify: () => this.#listener.onChange(),
      onclose: () => this.#onLost(),
    };
    this.#sql = postgres(url, { ...settings, ...own });
    this.#statement = `LISTEN "${channel}"`;
    this.#listener = listener;
    this.#pause = pause;
  }

  /** Resolves once notifications come. Rejects if they cannot be had at first. */
  async start(): Promise<void> {
    const connection = await this.#listen();
    void this.#follow(connection);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#onLost();
    await this.#sql.end(END);
  }

  /** Subscribes again whenever the connection was lost. */
  async #follow(first: Connection): Promise<void> {
    let connection = first;
    while (!this.#hasEnded) {
      await connection.lost;
      connection = await this.#listenAgain();
    }
  }

  async #listenAgain(): Promise<Connection> {
    for (let pauseMs: number = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.most)) {
      if (this.#hasEnded) return ENDED;
      try {
        return await this.#listen();
      } catch (error) {
        if (this.#hasEnded) return ENDED;
        this.#listener.onRefused(error);
        await this.#pause(pauseMs);
      }
    }
  }

  async #listen(): Promise<Connection> {
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    this.#onLost = resolve;
    await this.#sql.unsafe(this.#statement);
    this.#listener.onChange();
    return { lost };
  }
}
