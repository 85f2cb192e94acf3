// The API process: reads its settings, opens the stores, and listens.

import { pino } from "pino";
import { Counter, Gauge } from "prom-client";
import { AccountActors } from "../actors/account-actors.ts";
import { AnonymousWindow } from "../actors/anonymous-window.ts";
import { createApp } from "./app.ts";
import { loadServerConfig, type ServerConfig } from "./config.ts";
import type { Clock } from "./core/clock.ts";
import type { Log } from "./core/log.ts";
import { createRegistry, serveMetrics } from "./http/metrics-server.ts";
import { LISTEN_OPTIONS } from "./http/server.ts";
import { CatalogueSource } from "./providers/chat/catalogue-source.ts";
import { createChatProvider } from "./providers/chat/chat-provider.ts";
import { KeyDirectory } from "./store/accounts.ts";
import { Book } from "./store/book.ts";
import { openDatabase } from "./store/database.ts";
import { Pauses } from "./store/pauses.ts";
import { openRedis } from "./store/redis.ts";
import { checkRedis } from "./store/redis-check.ts";

const METRICS_PORT = 9464;
/** A stream may last 15 minutes; after that only what cannot end is left. */
const DRAIN_MS = 15.5 * 60_000;

const clock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

async function main(): Promise<void> {
  const config = loadServerConfig(METRICS_PORT);
  const log = pino({ level: config.logLevel, base: { process: "api" } });
  log.info("");
}
