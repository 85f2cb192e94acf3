// The checks of `farebox doctor`. Each check reports its finding in words and, if something is
// wrong, the remedy.

import { existsSync } from "node:fs";
import { runningProcesses } from "../../../actors/layout-upgrade.ts";
import { probeKeys } from "../../../actors/records/keys.ts";
import { appendOnlyFileOf } from "../../../actors/redis/append-only-file.ts";
import { serversOf } from "../../../actors/redis/redis-servers.ts";
import type { RedisServer } from "../../../actors/scripts/script.ts";
import { allowlist, isListed } from "../../core/access/access.ts";
import { counted } from "../../core/text/counted.ts";
import { OidcClient } from "../../identity/providers/oidc-client.ts";
import type { ProviderEntry, ProviderKind } from "../../services/chat/models/catalogue.ts";
import { checkProvider } from "../../services/chat/protocols/provider-check.ts";
import { greetRelay } from "../../services/mail/providers/relay-check.ts";
import { Configurations } from "../../store/operators/configurations.ts";
import { compareMigrations } from "../../store/servers/migrate.ts";
import { postgresFacts, versionProblem } from "../../store/servers/postgres-check.ts";
import { openRedis } from "../../store/servers/redis.ts";
import { checkRedis, checkReplication, checkWrites } from "../../store/servers/redis-check.ts";
import { parseRedisUrl } from "../../store/servers/redis-url.ts";
import { UntrustedProxies } from "../../store/servers/untrusted-proxies.ts";
import { type CheckContext, type Finding, ok, problem, warning } from "../doctor-finding.ts";
import { checkJournal, checkLocks, checkOperations } from "../doctor-ledger.ts";
import { missingLimits } from "../missing-limits.ts";
import { paymentsRead } from "../payments/top-up-commands.ts";
import { openCatalogue } from "../server-settings.ts";

/** A check and its name in the output. An error that the check throws becomes a problem. */
export type Check = readonly [name: string, run: (context: CheckContext) => Promise<Finding[]>];

const SKEW_MS_MAX = 1_000;
const ANSWER_MS = 10_000;
const SLOW_MS = 20;
const ROUNDS = 5;

export const CHECKS: readonly Check[] = [
  ["Redis", checkMoneyRedis],
  ["Redis of the queue", checkQueueRedis],
  ["Postgres", checkPostgres],
  ["schema", checkSchema],
  ["secrets", checkSecrets],
  ["journal", checkJournal],
  ["operations", checkOperations],
  ["locks", checkLocks],
  ["configuration", checkConfiguration],
  ["models", checkModels],
  ["mail", checkMail],
  ["payments", checkPayments],
  ["dashboard", checkDashboard],
  ["single sign-on", checkSso],
  ["settings", checkSettings],
];

async function checkMoneyRedis({ stores, now }: CheckContext): Promise<Finding[]> {
  const { redis } = stores.actors.deps;
  const { kind } = parseRedisUrl(stores.redisUrl);
  const replication = kind === "server" ? [] : await checkReplication(redis, kind);
  const warnings = [...(await checkRedis(redis)), ...replication].map(warning);
  await checkWrites(redis, probeKeys());
  const servers = serversOf(redis);
  const [server] = servers;
  if (server === undefined) return [problem("The Cluster has no master")];
  const ms = await quickest(now, () => server.ping());
  const [seconds, micros] = await server.time();
  const skew = clockFinding("Redis", Number(seconds) * 1_000 + Number(micros) / 1_000 - now());
  const files = await Promise.all(servers.map(fileFinding));
  return [...warnings, ...skew, ...files.flat(), answerFinding(ms)];
}

/** Warns if a loss of power may have cut the append-only file and nothing has rewritten it. */
async function fileFinding(server: RedisServer): Promise<Finding[]> {
  const { isOn, isFresh, isUnderWay } = await appendOnlyFileOf(server);
  if (!isOn) return [];
  if (isFresh) return [ok("its append-only file was rewritten since it started")];
  if (isUnderWay) return [ok("it is rewriting its append-only file")];
  return [
    warning(
      "its append-only file was not rewritten since it started: if a loss of power cut it, " +
        "charges are lost at the next start. The next call has it rewritten; if Redis does not " +
        "allow that, run redis-check-aof --fix before each start (docs/production.md)",
    ),
  ];
}

async function checkQueueRedis({ config, now }: CheckContext): Promise<Finding[]> {
  if (config.queueRedisUrl === config.redisUrl) return [ok("the same")];
  const redis = openRedis(config.queueRedisUrl);
  redis.on("error", () => {});
  try {
    return [answerFinding(await quickest(now, () => redis.ping()))];
  } finally {
    redis.disconnect();
  }
}

async function checkPostgres({ stores, now }: CheckContext): Promise<Finding[]> {
  await stores.checkPooler();
  const { version, nowMs } = await postgresFacts(stores.database);
  const old = versionProblem(version);
  const skew = clockFinding("Postgres", nowMs - now());
  const problems = old === null ? [] : [problem(old)];
  return [...problems, ...skew, answerFinding(await quickest(now, () => stores.database.ping()))];
}

async function checkSchema({ stores }: CheckContext): Promise<Finding[]> {
  const { missing, newer } = await compareMigrations(stores.database);
  if (missing > 0) return [problem(`${missing} migrations are missing: run farebox migrate`)];
  if (newer > 0) {
    return [warning(`The schema is of a newer release: it has ${newer} more migrations`)];
  }
  return [ok("of this release")];
}

async function checkSecrets({ stores }: CheckContext): Promise<Finding[]> {
  await stores.compareSecrets();
  return [ok("those that the servers use")];
}

/** Checks that all processes run the configuration in force. */
async function checkConfiguration({ stores, config }: CheckContext): Promise<Finding[]> {
  const found = await new Configurations(stores.database).inForce(0);
  if (found === null) return [ok("each process reads its own file")];
  const { path } = config.catalogueFile;
  const unused = existsSync(path)
    ? [warning(`${path} is not used: change the configuration with farebox config apply`)]
    : [];
  const others = (await runningProcesses(stores.actors.deps.redis)).filter(
    ({ configuration }) => configuration !== null && configuration !== found.version,
  );
  const behind = others.map(({ id, configuration }) =>
    problem(
      `Version ${found.version} is in force, ${id} runs ${configuration || "its own file"}: if ` +
        "that lasts, its log says why",
    ),
  );
  return [...unused, ...behind, ok(`version ${found.version} is in force`)];
}

async function checkModels({ stores, config, fetch, now }: CheckContext): Promise<Finding[]> {
  const configurations = new Configurations(stores.database);
  // Another check reports that Postgres is away or not migrated.
  const applied = { inForce: (known: number) => configurations.inForce(known).catch(() => null) };
  using source = await openCatalogue(config, { applied, probe: fetch, warn: () => {} });
  const { models, providers } = source.current();
  const remote = [...providers.values()].filter(isRemote);
  const findings = await Promise.all(
    remote.map(async (provider) => {
      const { name } = provider;
      const checked = await checkProvider(provider, { fetch, timeoutMs: ANSWER_MS, now });
      if (!checked.ok) return problem(`${name}: ${checked.problem}`);
      if (checked.models === "unlisted") return ok(`${name} takes the credentials`);
      if (checked.models !== null) return ok(`${name} answers and has ${checked.models} models`);
      return warning(
        `${name} answers ${checked.status} in place of a list of models: is its base_url whole? ` +
          "Most end with /v1",
      );
    }),
  );
  const summary =
    remote.length === 0
      ? warning("No model server is configured: only the built-in guide answers")
      : ok(`the configuration offers ${counted(models.size, "model")}`);
  const missing = missingLimits(models.values());
  return [summary, ...findings, ...(missing === null ? [] : [warning(missing)])];
}

function isRemote(
  provider: ProviderEntry,
): provider is ProviderEntry & { readonly kind: Exclude<ProviderKind, "guide"> } {
  return provider.kind !== "guide";
}

async function checkMail({ config }: CheckContext): Promise<Finding[]> {
  const { relay, dkim } = config.mail;
  if (relay === null) {
    return [warning("No mail server is configured (MAIL_SMTP_URL): no mail leaves this machine")];
  }
  const greeted = await greetRelay(relay);
  if (!greeted.ok) return [problem(`${relay.host}: ${greeted.problem}`)];
  return [
    ...(greeted.encrypted ? [] : [warning("The connection to the mail server has no TLS")]),
    ...(dkim === null ? [warning("Mail is not signed with DKIM (MAIL_DKIM_SELECTOR)")] : []),
    ok(`${relay.host} takes our mail; try it with farebox mail test`),
  ];
}

async function checkPayments({ stores, config, now }: CheckContext): Promise<Finding[]> {
  if (config.payments === null) {
    return [warning("No payment provider is configured: only operators can add credit")];
  }
  const { provider } = paymentsRead(stores);
  const events = provider.listEvents(new Date(now()));
  for await (const _ of events) break;
  return [ok(`${provider.name} answers`)];
}

async function checkDashboard({ config }: CheckContext): Promise<Finding[]> {
  if (config.console !== null) return [ok(`people and operators open ${config.console.origin}`)];
  return [warning("None is served, nor a console for operators (SESSION_SECRET, CONSOLE_URL)")];
}

/**
 * Reports settings that are dangerous on a reachable installation, and proxies that no setting
 * names.
 */
async function checkSettings({ stores, config, now }: CheckContext): Promise<Finding[]> {
  const trusted = allowlist(config.trustedProxies);
  const proxies = await new UntrustedProxies(stores.database, now)
    .warnings((address) => isListed(trusted, address))
    // Another check reports that Postgres is away or not migrated.
    .catch(() => []);
  const warnings = [...config.warnings, ...proxies].map(warning);
  return warnings.length > 0 ? warnings : [ok("none is for development alone")];
}

async function checkSso({ config, now }: CheckContext): Promise<Finding[]> {
  const sso = config.console?.sso ?? null;
  if (sso === null) return [ok("not configured: operators sign in with a password or a passkey")];
  const { problems, warnings } = await new OidcClient(sso, now).probe();
  const findings = [...problems.map(problem), ...warnings.map(warning)];
  return [...findings, ...(problems.length === 0 ? [ok(`${sso.issuer} answers`)] : [])];
}

/**
 * The time of the fastest of several answers. The slower ones include the time in which this
 * process itself was busy.
 */
async function quickest(now: () => number, ask: () => PromiseLike<unknown>): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = now();
    await ask();
    leastMs = Math.min(leastMs, now() - startMs);
  }
  return leastMs;
}

function answerFinding(ms: number): Finding {
  const text = `answers in ${Math.max(1, Math.ceil(ms))} ms`;
  if (ms <= SLOW_MS) return ok(text);
  return warning(`${text}: every call waits for it, so it should be on the same network`);
}

function clockFinding(server: string, aheadMs: number): Finding[] {
  if (Math.abs(aheadMs) <= SKEW_MS_MAX) return [];
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  const side = aheadMs > 0 ? "ahead of" : "behind";
  return [warning(`The clock of ${server} is ${seconds} s ${side} this machine's: use NTP`)];
}
