// Runs the whole product as in production: API and worker processes on their own durable Redis and
// a migrated Postgres, in front of a fake upstream. Everything ends with the test.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readJournal } from "../../../actors/journal.ts";
import { freePort, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { apply, findAccount } from "../../../src/accounts/administration.ts";
import { type AuditReport, audit } from "../../../src/accounts/audit.ts";
import { recordPayment } from "../../../src/accounts/payments.ts";
import { openStores, type Stores } from "../../../src/cli/stores.ts";
import { safetyIdSecretsOf } from "../../../src/core/access/safety-ids.ts";
import { usd } from "../../../src/core/money/money.ts";
import { receiptSecretsOf } from "../../../src/core/receipts/receipt-keys.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { migrate } from "../../../src/store/servers/migrate.ts";
import { eventually } from "../eventually.ts";
import { type FakeUpstream, startFakeUpstream } from "../fakes/fake-upstream.ts";
import { random } from "../random.ts";
import {
  type AccountTerms,
  createTestAccount,
  createTestKey,
  type KeyTerms,
  type TestAccount,
} from "../stores/accounts.ts";
import {
  createTestDatabase,
  type PrivateRedis,
  type PrivateStore,
  startPrivatePostgres,
  startPrivateRedis,
  testDataDirectory,
} from "../stores/services.ts";
import { Program, type StartOptions } from "./program.ts";

export const SECRETS = {
  KEY_PEPPER: "the pepper of the product tests",
  IP_HASH_SECRET: "the IP secret of the product tests",
} as const;

const UNASKED_SEARCH = { providers: [{ kind: "searxng", base_url: "http://127.0.0.1:9" }] };

/** A model of the catalogue; the fake upstream behaves as `mood` says. */
export interface ProductModel {
  readonly id: string;
  readonly mood?: string;
  /** The form that its server speaks; by default chat completions. */
  readonly form?: "responses" | "messages" | null;
  /** By default chat. */
  readonly serves?: "embedding" | "rerank" | "moderation";
  readonly input?: string;
  readonly output?: string;
  readonly freeEligible?: boolean;
  /** True for a model that takes images and PDFs, each of at most 1,000 tokens. */
  readonly takesMedia?: boolean;
}

export interface ProductOptions {
  readonly apis?: number;
  readonly workers?: number;
  /** True for a Postgres that may be killed, instead of a database of the shared one. */
  readonly ownPostgres?: boolean;
  /** A migrated database of the test, instead of a new one. */
  readonly databaseUrl?: string;
  readonly postgresSettings?: Readonly<Record<string, string>>;
  readonly redisSettings?: Readonly<Record<string, string>>;
  /** A Redis of the test: a Cluster, or Sentinels. */
  readonly redisUrl?: string;
  /** Models that answer as the fake upstream's moods do. */
  readonly models?: readonly ProductModel[];
  /**
   * The section `search` of the configuration file. The built-in index takes a fifth of the CPU of
   * a process's start; so by default a server is configured that gets no requests.
   */
  readonly search?: object | "built in";
  /** An upstream of the test, instead of the fake one. */
  readonly upstreamUrl?: string;
  /** The section `maps` of the configuration file. */
  readonly maps?: object;
  /** False for a test that makes too many requests to keep. */
  readonly record?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** An API process, which keeps its port over all its starts. */
export class Api extends Program {
  readonly url: string;

  constructor(
    options: ConstructorParameters<typeof Program>[0],
    readonly port: number,
  ) {
    super(options);
    this.url = `http://127.0.0.1:${port}`;
  }

  /** The number of calls of this process that hold money now. */
  async openCalls(): Promise<number> {
    return (await this.metric("farebox_open_calls")) ?? Number.NaN;
  }
}

interface Parts {
  readonly home: string;
  readonly redis: PrivateRedis | null;
  readonly redisUrl: string;
  readonly postgres: PrivateStore | null;
  readonly databaseUrl: string;
  readonly upstream: FakeUpstream;
  readonly upstreamUrl: string;
  readonly search: Offered["search"];
  readonly apis: readonly Api[];
  readonly workers: readonly Program[];
  readonly operator: Stores;
  readonly resources: AsyncDisposableStack;
}

export class Product implements AsyncDisposable {
  readonly apis: readonly Api[];
  readonly workers: readonly Program[];
  readonly upstream: FakeUpstream;
  /** The stores that the command-line tool uses. */
  readonly operator: Stores;

  constructor(readonly parts: Parts) {
    this.apis = parts.apis;
    this.workers = parts.workers;
    this.upstream = parts.upstream;
    this.operator = parts.operator;
  }

  api(index: number): Api {
    const api = this.apis[index];
    if (api === undefined) throw new Error(`There is no API process ${index}`);
    return api;
  }

  get programs(): readonly Program[] {
    return [...this.apis, ...this.workers];
  }

  /** The one Redis that was started for this product. */
  get redis(): PrivateRedis {
    if (this.parts.redis === null) throw new Error("The test started the Redis of this product");
    return this.parts.redis;
  }

  /** The Postgres that only this product uses. */
  get postgres(): PrivateStore {
    if (this.parts.postgres === null) throw new Error("This product has no Postgres of its own");
    return this.parts.postgres;
  }

  /** A new account with a key. */
  async account(terms: AccountTerms = {}): Promise<TestAccount> {
    const { administration, actors } = this.operator;
    const account = await createTestAccount(administration, terms);
    await apply(administration, account);
    return { ...account, actor: actors.of(account.id, account.bucket) };
  }

  async pay(accountId: string, amount: string): Promise<void> {
    const payment = { amount: usd(amount), paidAt: new Date() };
    await recordPayment(this.operator.administration, accountId, payment);
  }

  /** Another key of an account. */
  async newKey(accountId: string, terms: KeyTerms = {}): Promise<{ id: string; key: string }> {
    const { administration } = this.operator;
    const account = await findAccount(administration, accountId);
    const { id, secret } = await createTestKey(administration.accounts, account, terms);
    await apply(administration, account);
    return { id, key: secret };
  }

  /** Waits until the ledger has all entries of Redis; a worker may be about to write them. */
  async booked(): Promise<void> {
    const { actors, database, flush } = this.operator;
    const ledger = new Ledger(database);
    await eventually("the journal is in the ledger", async () => {
      await flush();
      const behind = (await ledger.cursors()).map(async ({ bucket, epoch, entry }) => {
        const range = { epoch, entry, count: 1 };
        const { written } = await readJournal(actors.scripts.redis, bucket, range);
        return written > entry;
      });
      return !(await Promise.all(behind)).includes(true);
    });
  }

  /** Proves every account, once all entries are booked. */
  async audit(): Promise<AuditReport> {
    await this.booked();
    const { actors, database, flush } = this.operator;
    const redis = actors.scripts.redis;
    const repository = new AuditRepository(database);
    return audit({ redis, repository, graceMs: 0, flush, sleep: Bun.sleep }, null);
  }

  /** Replaces the catalogue, with the built-in maps; processes find it within about a second. */
  writeCatalogue(models: readonly ProductModel[]): void {
    writeFileSync(catalogueFile(this.parts.home), this.catalogueText(models));
  }

  /** A configuration of these models, in the form of its file. */
  catalogueText(models: readonly ProductModel[]): string {
    const { upstreamUrl, search } = this.parts;
    return catalogueText({ upstreamUrl, models, search, maps: undefined });
  }

  /** The environment of the programs, also for the command-line tool. */
  get env(): Readonly<Record<string, string>> {
    return environment(this.parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.resources.disposeAsync();
  }
}

/** Starts a product; if a part fails, the started parts end again. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  await using resources = new AsyncDisposableStack();
  const folder = temporaryFolder("farebox-product-");
  resources.defer(() => folder.remove());
  const home = folder.path;
  mkdirSync(join(home, "logs"));
  const redis =
    options.redisUrl === undefined
      ? resources.use(await startPrivateRedis({ settings: { ...options.redisSettings } }))
      : null;
  const redisUrl = redis?.url ?? options.redisUrl ?? "";
  const postgres =
    options.ownPostgres === true
      ? resources.use(await startPrivatePostgres({ settings: options.postgresSettings ?? {} }))
      : null;
  const databaseUrl =
    postgres?.url ?? options.databaseUrl ?? resources.use(await createTestDatabase()).url;
  if (postgres !== null) await migrate(databaseUrl);
  const upstream = await startFakeUpstream({ record: options.record ?? true });
  resources.defer(() => upstream.stop());
  const upstreamUrl = options.upstreamUrl ?? upstream.baseUrl;
  const { models = [{ id: "ok" }], search, maps } = options;
  writeFileSync(catalogueFile(home), catalogueText({ upstreamUrl, models, search, maps }));
  const operator = openOperator(redisUrl, databaseUrl);
  resources.defer(() => operator.close());

  const env = { ...environment({ home, redisUrl, databaseUrl }), ...options.env };
  const logFile = (name: string) => join(home, "logs", `${name}.log`);
  const apis: Api[] = [];
  for (let index = 0; index < (options.apis ?? 2); index += 1) {
    const [name, port] = [`api-${index}`, await freePort()];
    const own = { ...env, PORT: String(port) };
    apis.push(new Api({ name, file: "src/main.ts", env: own, logFile: logFile(name) }, port));
  }
  const workers = Array.from({ length: options.workers ?? 1 }, (_, index) => {
    const name = `worker-${index}`;
    return new Program({ name, file: "workers/main.ts", env, logFile: logFile(name) });
  });
  resources.defer(async () => {
    // Kills after a while: a test that failed may have left streams open.
    await Promise.all([...apis, ...workers].map((program) => program.stop(3_000)));
  });
  await startAll([...apis, ...workers]);
  const stores = { redis, redisUrl, postgres, databaseUrl };
  const programs = { apis, workers, operator };
  const kept = resources.move();
  return new Product({
    home,
    ...stores,
    upstream,
    upstreamUrl,
    search,
    ...programs,
    resources: kept,
  });
}

async function startAll(programs: readonly Program[], options: StartOptions = {}): Promise<void> {
  const starts = await Promise.allSettled(programs.map((program) => program.start(options)));
  for (const start of starts) if (start.status === "rejected") throw start.reason;
}

/** The stores as the command-line tool opens them. */
export function openOperator(redisUrl: string, databaseUrl: string): Stores {
  const { KEY_PEPPER, IP_HASH_SECRET } = SECRETS;
  const secrets = { KEY_PEPPER: [KEY_PEPPER], IP_HASH_SECRET: [IP_HASH_SECRET] } as const;
  const dataDirectory = testDataDirectory();
  const directDatabaseUrl = null;
  const safetyIdSecrets = safetyIdSecretsOf(null, secrets.KEY_PEPPER);
  const stores = { redisUrl, databaseUrl, directDatabaseUrl, dataDirectory };
  const receiptSecrets = receiptSecretsOf(null, secrets.KEY_PEPPER);
  const config = { ...stores, secrets, safetyIdSecrets, receiptSecrets };
  const parts = { environment: undefined, consoleOrigin: null, now: Date.now, random };
  return openStores({ config, ...parts, warn: () => {} });
}

function environment(
  parts: Pick<Parts, "home" | "redisUrl" | "databaseUrl">,
): Record<string, string> {
  return {
    ...SECRETS,
    REDIS_URL: parts.redisUrl,
    DATABASE_URL: parts.databaseUrl,
    METRICS_PORT: "0",
    FAKE_KEY: "sk-fake-servers",
    FAREBOX_DATA: testDataDirectory(),
    FAREBOX_CONFIG: catalogueFile(parts.home),
  };
}

function catalogueFile(home: string): string {
  return join(home, "catalogue.json");
}

interface Offered {
  readonly upstreamUrl: string;
  readonly models: readonly ProductModel[];
  readonly search: object | "built in" | undefined;
  readonly maps: object | undefined;
}

const SERVERS = {
  chat: { name: "fake" },
  responses: { name: "fake-responses", provider: "openai-responses", api_key_env: "FAKE_KEY" },
  messages: { name: "fake-messages", provider: "anthropic", api_key_env: "FAKE_KEY" },
} as const;

/** The one server in three roles; each form has a provider of its own. */
function serverOf({ form }: ProductModel) {
  return SERVERS[form ?? "chat"];
}

const MEDIA_FIELDS = { takes: ["image", "pdf"], image_tokens: 1_000, pdf_tokens: 1_000 };

function catalogueText({ upstreamUrl, models, search, maps }: Offered): string {
  return JSON.stringify({
    ...(search !== "built in" && { search: search ?? UNASKED_SEARCH }),
    maps,
    providers: Object.fromEntries(
      [...new Set(models.map(serverOf))].map(({ name, ...terms }) => [
        name,
        { base_url: upstreamUrl, concurrency: 10_000, ...terms },
      ]),
    ),
    models: models.map((model) => ({
      id: model.id,
      label: model.id,
      family: "fake",
      owned_by: "fake",
      context_length: 128_000,
      serves: model.serves,
      free_credit_eligible: model.freeEligible ?? true,
      ...(model.takesMedia === true && MEDIA_FIELDS),
      pricing: [{ input_usd_per_m: model.input ?? "1", output_usd_per_m: model.output ?? "2" }],
      routes: [{ provider: serverOf(model).name, model: model.mood ?? model.id }],
    })),
  });
}
