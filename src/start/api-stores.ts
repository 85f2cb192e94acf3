// The stores of an API process, and their readers and writers.

import { AccountActors } from "../../actors/account-actors.ts";
import { scriptsOfOneServer } from "../../actors/redis/open-scripts.ts";
import type { Clock } from "../core/clock.ts";
import { newId, type RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { type ReceiptKey, receiptKeyOf } from "../core/receipts/receipt-keys.ts";
import type { SecretList } from "../core/secrets.ts";
import { secretId } from "../core/secrets.ts";
import { createClientInfo } from "../http/client-info.ts";
import { apiMetrics } from "../http/telemetry/api-metrics.ts";
import { createRegistry } from "../http/telemetry/metrics-server.ts";
import { openPaymentQueue, topUpListener } from "../payments/top-up-listener.ts";
import type { ServerConfig } from "../settings/config.ts";
import { KeyDirectory } from "../store/accounts/key-directory.ts";
import { WalletRepository } from "../store/accounts/wallet-repository.ts";
import { openMailStores } from "../store/mail/mail-stores.ts";
import { Pauses } from "../store/operators/pauses.ts";
import type { Database } from "../store/servers/database.ts";
import { IpHashSecrets } from "../store/servers/ip-hash-secrets.ts";
import { checkMigrated } from "../store/servers/migrate.ts";
import { openChecked } from "../store/servers/pooler-check.ts";
import { openRedis } from "../store/servers/redis.ts";
import { checkRedis } from "../store/servers/redis-check.ts";
import { parseRedisUrl } from "../store/servers/redis-url.ts";
import { adoptSecret, adoptSecrets } from "../store/servers/secrets.ts";
import { adoptReceiptKeys } from "../store/usage/receipts.ts";

/** A call that needs Postgres is refused if Postgres does not answer within this time. */
const POSTGRES_ANSWER_MS = 5_000;

interface ProcessParts {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

export type ApiStores = Awaited<ReturnType<typeof openApiStores>>;

/**
 * Opens and checks the stores.
 * @throws StartError if a store, its settings or a secret cannot be used
 */
export async function openApiStores(config: ServerConfig, { clock, random, log }: ProcessParts) {
  const redis = openRedis(config.redisUrl);
  redis.on("error", (error) => log.warn({ err: error }, "Redis is not reachable"));
  for (const warning of await checkRedis(redis)) log.warn({}, warning);
  const database = await openChecked(config, { timeoutMs: POSTGRES_ANSWER_MS });
  await checkMigrated(database);
  await adoptSecrets(database, config.secrets);
  await adoptSecret(database, "SAFETY_ID_SECRET", config.safetyIdSecrets);
  await adoptSecret(database, "RECEIPT_SECRET", config.receiptSecrets);
  const receiptKey = await openReceiptKey(database, config.receiptSecrets);
  const { console } = config;
  if (console !== null) await adoptSecret(database, "SESSION_SECRET", console.secrets);
  const { clientInfo, ipHashSecrets } = await openClientInfo(config, database, {
    clock,
    random,
    log,
  });
  const { queueRedisUrl } = config;
  const queue = config.payments === null ? null : openPaymentQueue(queueRedisUrl, log);
  const registry = createRegistry("api");
  const metrics = apiMetrics(registry);
  const target = parseRedisUrl(config.redisUrl);
  const accounts = new AccountActors({
    redis,
    repository: new WalletRepository(database),
    now: clock.now,
    log,
    processId: newId("process", random),
    allowance: config.freePlanAllowance,
    timing: { monotonicMs: clock.monotonicMs, onRun: metrics.onScript },
    ...(queue !== null && { topUps: topUpListener(queue, log) }),
    ...(target.kind === "server" && {
      openScripts: scriptsOfOneServer(target, (error) =>
        log.warn({ err: error }, "Redis is not reachable"),
      ),
    }),
  });
  const pauses = new Pauses({ database, log });
  await pauses.start();
  const mail = openMailStores({ database, redis, queueRedisUrl, log });
  const keys = new KeyDirectory({
    database,
    now: clock.now,
    pepper: secretId("KEY_PEPPER", config.secrets.KEY_PEPPER[0]),
    onNotMoved: (error, keyId) => log.warn({ err: error, keyId }, "A key kept its old digest"),
  });
  const close = async () => {
    ipHashSecrets.stop();
    await pauses.stop();
    await mail.close();
    await queue?.close();
    accounts.scripts.close();
    redis.disconnect();
    await database.close();
  };
  return {
    redis,
    database,
    accounts,
    queue,
    pauses,
    mail,
    keys,
    clientInfo,
    receiptKey,
    registry,
    metrics,
    close,
  };
}

/** The key that signs; the public halves of all keys are stored. */
async function openReceiptKey(
  database: Database,
  [current, ...previous]: SecretList,
): Promise<ReceiptKey> {
  const key = receiptKeyOf(current);
  const others = previous.map((secret) => receiptKeyOf(secret).publicJwk.x);
  await adoptReceiptKeys(database, [key.publicJwk.x, ...others]);
  return key;
}

async function openClientInfo(
  { secrets }: ServerConfig,
  database: Database,
  { clock, random, log }: ProcessParts,
) {
  const [pepper] = secrets.IP_HASH_SECRET;
  const ipHashSecrets = new IpHashSecrets({ database, pepper, random, now: clock.now, log });
  await ipHashSecrets.start();
  const ipHashSecret = () => ipHashSecrets.current();
  const clientInfo = createClientInfo({ ipHashSecret, windowSecret: pepper });
  return { clientInfo, ipHashSecrets };
}
