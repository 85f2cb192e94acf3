// The API process: reads its settings, opens the stores and listens. On SIGTERM the process drains:
// it takes no new calls and waits for the open ones.

import type { AccountActors } from "../actors/account-actors.ts";
import { AnonymousWindow } from "../actors/anonymous-window.ts";
import { checkLayouts } from "../actors/layout-upgrade.ts";
import { probeKeys } from "../actors/records/keys.ts";
import project from "../package.json";
import { delayedChange } from "./accounts/administration.ts";
import { type AppDeps, createApp } from "./app.ts";
import { openConsole } from "./console/open-console.ts";
import { LEASE_MS } from "./core/access/limits.ts";
import type { Clock } from "./core/clock.ts";
import { deadlines } from "./core/deadlines.ts";
import type { Log } from "./core/log.ts";
import { StartError } from "./core/start-error.ts";
import { thrownMessage } from "./core/text/error-message.ts";
import { openDashboard } from "./http/console/dashboard-files.ts";
import { Drain } from "./http/drain.ts";
import { LISTEN_OPTIONS } from "./http/server.ts";
import { serveMetrics } from "./http/telemetry/metrics-server.ts";
import { openTracer } from "./http/telemetry/open-tracer.ts";
import { openOperators } from "./operator/open-operators.ts";
import { openWebhook } from "./payments/open-webhook.ts";
import { topUpCounter } from "./payments/top-up-metrics.ts";
import { AwaitedReceipts } from "./readings/signed/awaited-receipts.ts";
import { issuerOf, SignedReceipts } from "./readings/signed/signed-receipts.ts";
import type { ServerConfig } from "./settings/config.ts";
import { runProcess } from "./settings/run-process.ts";
import { type ApiStores, openApiStores } from "./start/api-stores.ts";
import { BodyThread } from "./start/body-threads.ts";
import { openProviders, type Providers } from "./start/providers.ts";
import { RejectedEntries } from "./store/ledger/rejected-entries.ts";
import { checkWrites } from "./store/servers/redis-check.ts";
import { UntrustedProxies } from "./store/servers/untrusted-proxies.ts";
import { KeptRunSums } from "./store/usage/kept-run-sums.ts";
import { averageReply } from "./store/usage/recent-usage.ts";
import { openFetch } from "./upstream/open-fetch.ts";

const METRICS_PORT = 9464;
const SETTLE_LOOK_MS = 20;

const clock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  deadline: (limitMs, owner) => deadlines.begin(limitMs, owner),
};

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));

/** The records of calls that callers may read. */
function recordsOf(
  { console }: ServerConfig,
  { database, accounts: actors, receiptKey: key }: ApiStores,
  log: Log,
) {
  const issuer = issuerOf(console?.origin);
  const receipts = new SignedReceipts({ database, clock, key, issuer });
  return {
    averageReply: (of: { readonly account: string; readonly model: string }) =>
      averageReply(database, of),
    receipts,
    awaitedReceipts: new AwaitedReceipts({ database, clock, receipts, log }),
    runs: {
      database,
      actors,
      sums: new KeptRunSums(database, clock.monotonicMs),
      onDelayed: delayedChange(log),
    },
  };
}

/** Starts everything. Returns a function that stops it, once the open calls have ended. */
async function start(config: ServerConfig, log: Log): Promise<() => Promise<void>> {
  const stores = await openApiStores(config, { clock, random, log });
  const { redis, database, accounts, pauses, registry, metrics } = stores;
  const providers = await openProviders(config, {
    clock,
    random,
    log,
    database,
    fetch: openFetch(config, clock),
    meter: metrics.upstream,
  });
  const rejected = new RejectedEntries(database);
  const proxies = new UntrustedProxies(database, clock.now);
  const drain = new Drain();
  const parser = new BodyThread({ clock, log });
  const tracer = await openTracer(config.traces, { version: project.version, clock, log });
  const app = createApp({
    ...providers.services,
    accounts,
    pauses,
    parser,
    clock,
    random,
    log,
    tracer,
    keys: stores.keys,
    clientInfo: stores.clientInfo,
    anonymous: new AnonymousWindow(accounts.scripts),
    payments: webhookOf(config, stores),
    mail: { ...stores.mail, ...config.mail, secrets: config.secrets.KEY_PEPPER, random },
    console: await consoleOf(config, stores, { ...providers, log }),
    checks: {
      process: () => drain.check(),
      redis: () => checkWrites(redis, probeKeys()),
      postgres: () => database.ping(),
      layout: () => checkLayouts(redis),
    },
    versions: providers.versions,
    warnings: { journal: () => rejectionWarning(rejected), ...providers.warnings },
    meter: metrics.meter,
    trustedProxies: config.trustedProxies,
    onUntrustedProxy: (address) => proxies.report(address, log),
    keyPeppers: config.secrets.KEY_PEPPER,
    origin: config.console?.origin ?? null,
    // Without the console the pages would have nothing to talk to.
    dashboard: config.console === null ? () => null : openDashboard(config.dataDirectory),
    docsTryIt: config.docsTryIt,
    ...recordsOf(config, stores, log),
    mcp: { hosts: config.mcpHosts, dashboard: config.console?.origin ?? null },
  });
  providers.warmUp();
  accounts.start(() => providers.versions().configuration);
  listen(app, config);
  log.info({ host: config.host, port: app.server?.port }, "Farebox listens");
  const { board, versions } = providers;
  metrics.watch({ accounts, pauses, board, versions, log });
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
    providers.close();
    parser.close();
    await tracer?.close();
    await metricsServer.stop();
    await stores.close();
  };
}

/** Takes the events of the payment provider; null where none is configured. */
function webhookOf(
  { payments }: ServerConfig,
  { database, queue, registry }: Awaited<ReturnType<typeof openApiStores>>,
) {
  if (payments === null || queue === null) return null;
  return openWebhook({ config: payments, database, queue, registry, now: clock.now });
}

/** @throws StartError where the port cannot be had */
function listen(app: ReturnType<typeof createApp>, config: ServerConfig): void {
  const { host: hostname, port, sharesPort: reusePort } = config;
  try {
    app.listen({ ...LISTEN_OPTIONS, hostname, port, reusePort });
  } catch (cause) {
    const why = thrownMessage(cause);
    const problem = `PORT ${port} cannot be listened on at ${hostname} (${why})`;
    throw new StartError(`${problem}. Set it to a free port.`, { cause });
  }
}

/** The parts of the console; null if this process does not serve it. */
async function consoleOf(
  config: ServerConfig,
  { database, accounts, pauses, registry, clientInfo }: ApiStores,
  { board, configuration, services, log }: Omit<Providers, "close"> & { log: Log },
): Promise<AppDeps["console"]> {
  if (config.console === null) return null;
  // The module loads better-auth, which takes a fifth of a second; many processes serve no console.
  const { openPeople } = await import("./console/people/open-people.ts");
  const { mail, payments, secrets } = config;
  const brand = () => services.catalogue().brand;
  const shared = { database, random, now: clock.now, log, actors: accounts, payments, brand };
  const { origin } = config.console;
  return {
    ...openPeople(config.console, { ...shared, mail, clientInfo }),
    ...openConsole({
      ...shared,
      origin,
      keyPeppers: secrets.KEY_PEPPER,
      webhooksAllowPrivate: config.webhooksAllowPrivate,
      onEnded: topUpCounter(registry),
    }),
    brand,
    switches: pauses,
    upstreams: board,
    configuration,
    process: { id: accounts.deps.processId, openCalls: () => accounts.openCalls },
    operators: openOperators(config.console),
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

await runProcess({ name: "api", metricsPort: METRICS_PORT, start });
