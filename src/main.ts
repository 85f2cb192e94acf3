// The API process: reads its settings, opens the stores and listens. On SIGTERM it drains: it takes
// no new calls and waits for the open ones.

import { AccountActors } from "../actors/account-actors.ts";
import { AnonymousWindow } from "../actors/anonymous-window.ts";
import { probeKeys } from "../actors/keys.ts";
import { checkLayouts } from "../actors/layout-upgrade.ts";
import { scriptsOfOneServer } from "../actors/open-scripts.ts";
import project from "../package.json";
import { createApp } from "./app.ts";
import { openConsole } from "./console/open-console.ts";
import { openPeople } from "./console/open-people.ts";
import type { Clock } from "./core/clock.ts";
import { newId } from "./core/ids.ts";
import { LEASE_MS } from "./core/limits.ts";
import type { Log } from "./core/log.ts";
import { secretId } from "./core/secrets.ts";
import { apiMetrics } from "./http/api-metrics.ts";
import { createClientInfo } from "./http/client-info.ts";
import { openDashboard } from "./http/dashboard-files.ts";
import { Drain } from "./http/drain.ts";
import { createRegistry, MetricsPortTaken, serveMetrics } from "./http/metrics-server.ts";
import { openTracer } from "./http/open-tracer.ts";
import { LISTEN_OPTIONS } from "./http/server.ts";
import { openOperators } from "./operator/open-operators.ts";
import { openWebhook } from "./payments/open-webhook.ts";
import { openPaymentQueue, topUpListener } from "./payments/top-up-listener.ts";
import { topUpCounter } from "./payments/top-up-metrics.ts";
import { createChatProvider } from "./services/chat/providers/chat-provider.ts";
import { createGuide, loadGuideDocuments } from "./services/chat/providers/guide.ts";
import { TokenCounter } from "./services/chat/token-counter.ts";
import { warmTokenizer } from "./services/chat/tokens.ts";
import { openEmbeddedMaps } from "./services/maps/providers/embedded/embedded-maps.ts";
import { createMapsProvider } from "./services/maps/providers/maps-provider.ts";
import { remoteServers } from "./services/maps/providers/remote/remote-servers.ts";
import { EmbeddedIndex } from "./services/search/providers/embedded-search.ts";
import { createSearchProvider } from "./services/search/providers/search-provider.ts";
import { CatalogueError } from "./settings/catalogue-file.ts";
import { CatalogueSource } from "./settings/catalogue-source.ts";
import { loadServerConfig, type ServerConfig } from "./settings/config.ts";
import { createLog } from "./settings/create-log.ts";
import { ConfigError } from "./settings/environment.ts";
import { checkUpgraded, UpgradeRequired } from "./store/first-layout.ts";
import { IpHashSecrets } from "./store/ip-hash-secrets.ts";
import { KeyDirectory } from "./store/key-directory.ts";
import { openMailStores } from "./store/mail-stores.ts";
import { Pauses } from "./store/pauses.ts";
import { openChecked, UnknownPooler } from "./store/pooler-check.ts";
import { openRedis } from "./store/redis.ts";
import { checkRedis, checkWrites } from "./store/redis-check.ts";
import { parseRedisUrl, WrongRedisUrl } from "./store/redis-url.ts";
import { RejectedEntries } from "./store/rejected-entries.ts";
import { adoptSecrets, adoptSessionSecret, WrongSecret } from "./store/secrets.ts";
import { WalletRepository } from "./store/wallet-repository.ts";
import { UpstreamBoard } from "./upstream/upstream-board.ts";

const METRICS_PORT = 9464;
/** A call that needs Postgres is refused if Postgres does not answer within this time. */
const POSTGRES_ANSWER_MS = 5_000;
const SETTLE_LOOK_MS = 20;
/** With a lower limit, hanging requests to one upstream would make requests to the others wait. */
const OUTGOING_REQUESTS_WANTED = 1_000;
const MORE = "set BUN_CONFIG_MAX_HTTP_REQUESTS to more";
const PROJECT = `${import.meta.dir}/..`;

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
  const log = createLog("api", config.logLevel);
  process.on("unhandledRejection", (error) => log.error({ err: error }, "A promise was lost"));
  const stop = await start(config, log);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      log.info({ signal }, "Draining: open calls end, no new ones are taken");
      void stop().then(() => process.exit(0));
    });
  }
}

/** Starts everything. Returns a function that stops it, once the open calls have ended. */
async function start(config: ServerConfig, log: Log): Promise<() => Promise<void>> {
  const redisTarget = parseRedisUrl(config.redisUrl);
  const redis = openRedis(config.redisUrl);
  redis.on("error", (error) => log.warn({ err: error }, "Redis is not reachable"));
  for (const warning of await checkRedis(redis)) log.warn({}, warning);
  if (config.outgoingRequestsMax < OUTGOING_REQUESTS_WANTED) {
    log.warn({}, `Only ${config.outgoingRequestsMax} upstream requests run at once: ${MORE}`);
  }
  const database = await openChecked(config, { timeoutMs: POSTGRES_ANSWER_MS });
  await checkUpgraded(database.db);
  await adoptSecrets(database, config.secrets);
  if (config.console !== null) await adoptSessionSecret(database, config.console.secrets);
  const { KEY_PEPPER: keyPeppers, IP_HASH_SECRET: ipHashPeppers } = config.secrets;
  const [pepper] = ipHashPeppers;
  const ipHashSecrets = new IpHashSecrets({ database, pepper, random, now: clock.now, log });
  await ipHashSecrets.start();
  const ipHashSecret = () => ipHashSecrets.current();
  const clientInfo = createClientInfo({ ipHashSecret, windowSecret: pepper });
  const registry = createRegistry("api");
  const metrics = apiMetrics(registry);
  const { queueRedisUrl } = config;
  const queue = config.payments === null ? null : openPaymentQueue(queueRedisUrl, log);
  const accounts = new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now: clock.now,
    log,
    processId: newId("process", random),
    allowance: config.freePlanAllowance,
    timing: { monotonicMs: clock.monotonicMs, onRun: metrics.onScript },
    ...(queue !== null && { topUps: topUpListener(queue, log) }),
    ...(redisTarget.kind === "server" && {
      openScripts: scriptsOfOneServer(redisTarget, (error) =>
        log.warn({ err: error }, "Redis is not reachable"),
      ),
    }),
  });
  const pauses = new Pauses({ database, log });
  await pauses.start();
  const catalogue = await CatalogueSource.open({
    ...config.catalogueFile,
    env: config.environment,
    log,
    probe: fetch,
    ownPort: config.port,
  });
  const documentation = await loadGuideDocuments(PROJECT);
  const index = new EmbeddedIndex({
    directory: config.dataDirectory,
    source: { project: PROJECT, homepage: project.homepage, documentation },
    clock,
    log,
  });
  const board = new UpstreamBoard();
  const upstreams = {
    board,
    catalogue: () => catalogue.current(),
    fetch,
    now: clock.now,
    clock,
    log,
    meter: metrics.upstream,
  };
  const embeddedMaps = openEmbeddedMaps({
    directory: config.dataDirectory,
    clock,
    log,
  });
  const tokens = new TokenCounter({ clock, log });
  const rejected = new RejectedEntries(database);
  const drain = new Drain();
  const mailStores = await openMailStores({ database, redis, queueRedisUrl, log });
  const tracer = await openTracer(config.traces, { version: project.version, clock, log });
  const app = createApp({
    accounts,
    payments:
      config.payments === null || queue === null
        ? null
        : openWebhook({
            ...{ config: config.payments, database, queue, registry, now: clock.now },
          }),
    keys: new KeyDirectory({
      database,
      now: clock.now,
      pepper: secretId("KEY_PEPPER", keyPeppers[0]),
      onNotMoved: (error, keyId) => log.warn({ err: error, keyId }, "A key kept its old digest"),
    }),
    anonymous: new AnonymousWindow(accounts.scripts),
    catalogue: () => catalogue.current(),
    chat: createChatProvider({
      ...upstreams,
      guide: createGuide({ documents: documentation, tokens }),
    }),
    tokens,
    search: createSearchProvider({
      ...upstreams,
      servers: () => catalogue.current().search.servers,
      embedded: index,
    }),
    maps: createMapsProvider({
      ...upstreams,
      config: () => catalogue.current().maps,
      embedded: embeddedMaps.services,
      connect: remoteServers({ now: clock.now }),
    }),
    mail: { ...mailStores, ...config.mail, secrets: keyPeppers, random },
    pauses,
    console: config.console && {
      ...openPeople(config.console, {
        ...{ database, random, now: clock.now, log, actors: accounts },
        ...{ mail: config.mail, payments: config.payments },
        clientInfo,
      }),
      ...openConsole({
        ...{ database, random, now: clock.now, log },
        ...{ actors: accounts, keyPepper: keyPeppers[0] },
        ...{ payments: config.payments, service: config.mail.service },
        onEnded: topUpCounter(registry),
      }),
      ...{ switches: pauses, upstreams: board },
      process: { id: accounts.deps.processId, openCalls: () => accounts.openCalls },
      operators: openOperators(config.console),
    },
    checks: {
      process: () => drain.check(),
      redis: () => checkWrites(redis, probeKeys()),
      postgres: () => database.ping(),
      layout: () => checkLayouts(redis),
    },
    warnings: { journal: () => rejectionWarning(rejected) },
    clock,
    random,
    log,
    meter: metrics.meter,
    tracer,
    trustedProxies: config.trustedProxies,
    keyPeppers,
    clientInfo,
    dashboard: openDashboard(config.dataDirectory),
    docsTryIt: config.docsTryIt,
  });
  warmTokenizer();
  const { servers } = catalogue.current().search;
  if (servers.some(({ kind }) => kind === "embedded")) index.open();
  accounts.start();
  app.listen({ ...LISTEN_OPTIONS, hostname: config.host, port: config.port });
  log.info({ host: config.host, port: app.server?.port }, "Farebox listens");
  metrics.watch({ accounts, pauses, log });
  const metricsServer = serveMetrics(registry, config.metrics, log);

  return async () => {
    await drain.run({
      ...config.drain,
      server: app.server,
      interrupt: (reason) => accounts.leases.interrupt(reason),
      log,
      sleep: Bun.sleep,
    });
    await settleOpenCalls(accounts, log);
    await accounts.stop();
    index.close();
    tokens.close();
    catalogue.close();
    embeddedMaps[Symbol.dispose]();
    ipHashSecrets.stop();
    await pauses.stop();
    await mailStores.close();
    await queue?.close();
    await tracer?.close();
    await metricsServer.stop();
    accounts.scripts.close();
    redis.disconnect();
    await database.close();
  };
}

async function rejectionWarning(rejected: RejectedEntries): Promise<string | null> {
  const open = await rejected.countOpen();
  return open === 0 ? null : `${open} rejected entries: see farebox journal rejected`;
}

/**
 * Waits for settlements that Redis has not accepted yet, until the sweep can expire their holds.
 */
async function settleOpenCalls(accounts: AccountActors, log: Log): Promise<void> {
  const endMs = clock.monotonicMs() + LEASE_MS;
  while (accounts.openCalls > 0 && clock.monotonicMs() < endMs) await Bun.sleep(SETTLE_LOOK_MS);
  const calls = accounts.openCalls;
  if (calls > 0) log.error({ calls }, "Calls were left to the sweep: Redis did not settle them");
}

try {
  await main();
} catch (error) {
  const isInWords = [
    ConfigError,
    CatalogueError,
    UpgradeRequired,
    UnknownPooler,
    WrongSecret,
    MetricsPortTaken,
    WrongRedisUrl,
  ].some((of) => error instanceof of);
  if (isInWords && error instanceof Error) process.stderr.write(`${error.message}\n`);
  // Print the error like the log: the runtime's own output could contain the address of a store.
  else createLog("api", "info").error({ err: error }, "The API could not start");
  process.exit(1);
}
