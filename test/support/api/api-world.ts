// Serves the API over real HTTP, on its own Redis and Postgres, with upstreams that the test
// scripts.

import type { AccountView } from "../../../actors/account.ts";
import { AnonymousWindow } from "../../../actors/anonymous-window.ts";
import { inspectBuckets } from "../../../actors/inspection.ts";
import { readJournal } from "../../../actors/journal.ts";
import { anonymousWindowKey, holdsKey, limitKey } from "../../../actors/records/keys.ts";
import { type HoldRecord, parseHold } from "../../../actors/records/records.ts";
import { unpack } from "../../../actors/scripts/script.ts";
import { type AppDeps, createApp } from "../../../src/app.ts";
import {
  type CallMetadata,
  type Outcome,
  parseMetadata,
  parseOutcome,
} from "../../../src/core/journal/journal.ts";
import type { Log } from "../../../src/core/log.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { receiptKeyOf } from "../../../src/core/receipts/receipt-keys.ts";
import { createClientInfo } from "../../../src/http/client-info.ts";
import { LISTEN_OPTIONS } from "../../../src/http/server.ts";
import { AwaitedReceipts } from "../../../src/readings/signed/awaited-receipts.ts";
import { SignedReceipts } from "../../../src/readings/signed/signed-receipts.ts";
import { TokenCounter } from "../../../src/services/chat/tokens/token-counter.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import type { AccountChange } from "../../../src/store/accounts/accounts.ts";
import { openMailStores } from "../../../src/store/mail/mail-stores.ts";
import { KeptRunSums } from "../../../src/store/usage/kept-run-sums.ts";
import { adoptReceiptKeys } from "../../../src/store/usage/receipts.ts";
import { averageReply } from "../../../src/store/usage/recent-usage.ts";
import { eventually } from "../eventually.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { ScriptedChat } from "../fakes/scripted-chat.ts";
import { ScriptedMaps } from "../fakes/scripted-maps.ts";
import { ScriptedSearch } from "../fakes/scripted-search.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import { type AccountTerms, createTestAccount, type TestAccount } from "../stores/accounts.ts";
import { startPrivateRedis } from "../stores/services.ts";
import { keyDirectory, openWorld, WORLD_PEPPER } from "../stores/world.ts";
import { mustBeDocumented } from "./contract.ts";
import { MODEL, PAID_ONLY_MODEL } from "./models.ts";

/** The domain that the mail of the tests is sent from. */
export const MAIL_DOMAIN = "mail.farebox.test";

export const PEPPER = WORLD_PEPPER;
export const RECEIPT_KEY = receiptKeyOf(PEPPER);

export interface JournalEntry {
  readonly type: string;
  readonly request: string;
  readonly metadata: CallMetadata | null;
  readonly outcome: string;
  readonly end: Outcome | null;
}

interface RequestOptions {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

interface LogLine {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export type ApiStores = Awaited<ReturnType<typeof openStores>>;

/** Parts of the application that the test brings, or a function that makes them of the stores. */
export type ApiOptions = Partial<AppDeps> | ((stores: ApiStores) => Partial<AppDeps>);

interface Parts {
  readonly url: string;
  readonly port: number;
  readonly stores: ApiStores;
  readonly chat: ScriptedChat;
  readonly search: ScriptedSearch;
  readonly maps: ScriptedMaps;
  readonly paused: Set<string>;
  readonly log: Log;
  readonly logged: readonly LogLine[];
  readonly pendingRequests: () => number;
  readonly stop: () => Promise<void>;
}

let tokens: TokenCounter | null = null;

/**
 * The tokenizer of all worlds of this process. To load its tables takes half a second of CPU, which
 * a thread for each world would spend again.
 */
function tokensOfProcess(): TokenCounter {
  tokens ??= new TokenCounter({ clock: realClock, log: { ...silent, error: console.error } });
  return tokens;
}

export class ApiWorld implements AsyncDisposable {
  constructor(readonly parts: Parts) {}

  static async start(
    options: ApiOptions = {},
    { mailWaitMs = 10_000 }: { readonly mailWaitMs?: number } = {},
  ): Promise<ApiWorld> {
    const stores = await openStores();
    const { redis, actors, database } = stores;
    const logged: LogLine[] = [];
    await adoptReceiptKeys(stores.database, [RECEIPT_KEY.publicJwk.x]);
    const note = (level: string) => (fields: object, message: string) => {
      logged.push({ level, fields, message });
    };
    const log: Log = { info: note("info"), warn: note("warn"), error: note("error") };
    const signing = { database, clock: realClock, key: RECEIPT_KEY, issuer: "test" };
    const receipts = new SignedReceipts(signing);
    const catalogue: Catalogue = catalogueOf([MODEL, PAID_ONLY_MODEL], []);
    const chat = new ScriptedChat();
    const search = new ScriptedSearch();
    const maps = new ScriptedMaps();
    const tokens = tokensOfProcess();
    const paused = new Set<string>();
    const app = createApp({
      accounts: actors,
      keys: keyDirectory(database, PEPPER),
      anonymous: new AnonymousWindow(actors.scripts),
      catalogue: () => catalogue,
      chat,
      tokens,
      search,
      maps,
      mail: {
        ...stores.mail,
        domain: MAIL_DOMAIN,
        waitMs: mailWaitMs,
        secrets: [PEPPER],
        random,
      },
      pauses: { isPaused: (target) => paused.has(target) },
      payments: null,
      console: null,
      checks: { redis: () => redis.ping() },
      versions: () => ({ configuration: 0, documents: 0 }),
      clock: realClock,
      random,
      log,
      trustedProxies: [],
      keyPeppers: [PEPPER],
      clientInfo: createClientInfo({ ipHashSecret: () => PEPPER, windowSecret: PEPPER }),
      origin: null,
      dashboard: () => null,
      docsTryIt: false,
      averageReply: (of) => averageReply(database, of),
      receipts,
      awaitedReceipts: new AwaitedReceipts({ database, clock: realClock, receipts, log }),
      runs: {
        database,
        actors,
        // By this clock a reading takes no time, and so is never kept.
        sums: new KeptRunSums(database, () => 0),
        onDelayed: (_, error) => logged.push({ level: "warn", fields: { error }, message: "late" }),
      },
      mcp: { hosts: [], dashboard: null },
      ...(typeof options === "function" ? options(stores) : options),
    });
    app.listen({ ...LISTEN_OPTIONS, port: 0, hostname: "127.0.0.1", reusePort: false });
    const port = app.server?.port ?? 0;
    const stop = async () => {
      await app.stop(true);
      await stores.close();
    };
    const pendingRequests = () => app.server?.pendingRequests ?? 0;
    const served = { url: `http://127.0.0.1:${port}`, port, pendingRequests, stop };
    return new ApiWorld({ ...served, chat, search, maps, stores, paused, log, logged });
  }

  /** The number of requests in progress. */
  get pendingRequests(): number {
    return this.parts.pendingRequests();
  }

  get paused(): Set<string> {
    return this.parts.paused;
  }

  get chat(): ScriptedChat {
    return this.parts.chat;
  }

  get search(): ScriptedSearch {
    return this.parts.search;
  }

  get maps(): ScriptedMaps {
    return this.parts.maps;
  }

  /** The lines that the service logged as errors. */
  get errors(): readonly LogLine[] {
    return this.parts.logged.filter(({ level }) => level === "error");
  }

  /**
   * A new account with a key, its credits applied. An account that paid has no free credit unless
   * the terms say so: its calls take from one balance.
   */
  async account(terms: AccountTerms = {}): Promise<TestAccount> {
    const free = terms.paid === undefined ? {} : { free: "0" };
    const { stores } = this.parts;
    const account = await createTestAccount(stores, { ...free, ...terms });
    const actor = stores.actors.of(account.id, account.bucket);
    await actor.hydrate();
    return { ...account, actor };
  }

  view(account: TestAccount): Promise<AccountView> {
    return this.parts.stores.actors.of(account.id, account.bucket).view(account.keyId);
  }

  /** Revokes the account's key, as the command line does. */
  async revoke(account: TestAccount): Promise<void> {
    await this.parts.stores.accounts.revokeKey(account.keyId, new Date());
    await this.parts.stores.actors.of(account.id, account.bucket).configure();
  }

  /** Changes fields that decide access, as the command line does. */
  async change(account: TestAccount, change: AccountChange): Promise<void> {
    const { accounts, actors } = this.parts.stores;
    const row = await accounts.find(account.id);
    if (row === null) throw new Error("There is no such account");
    await accounts.change(row, change, new Date());
    await actors.of(account.id, account.bucket).configure();
  }

  /** Empties the windows of callers without a key: all tests share one address. */
  async forgetAnonymous(): Promise<void> {
    const { redis } = this.parts.stores;
    for (const key of await redis.keys(anonymousWindowKey("*"))) await redis.del(key);
  }

  /** Resets upstreams, pauses and the windows of callers without a key to their start. */
  async reset(): Promise<void> {
    this.paused.clear();
    this.chat.reset();
    this.search.reset();
    this.maps.reset();
    await this.forgetAnonymous();
  }

  /** Renews the leases of all open calls, as happens every few seconds. */
  renewLeases(): Promise<void> {
    return this.parts.stores.actors.renewLeases();
  }

  /** Stores the cost so far of all open streams, as happens every second. */
  saveCosts(): Promise<void> {
    return this.parts.stores.actors.leases.saveCosts();
  }

  get openCalls(): number {
    return this.parts.stores.actors.openCalls;
  }

  /** The journal entries of the account's calls, refused ones too. */
  async journal(account: TestAccount): Promise<JournalEntry[]> {
    const { redis } = this.parts.stores;
    const [bucket] = (await inspectBuckets(redis)).slice(account.bucket);
    const range = { epoch: bucket?.record?.epoch ?? 0, entry: 0, count: 10_000 };
    const { entries } = await readJournal(redis, account.bucket, range);
    return entries
      .flatMap(({ entry }) => entry ?? [])
      .filter((entry) => entry.account === account.id && entry.type !== "operation")
      .map(({ type, request, metadata, outcome }) => ({
        type,
        request,
        metadata: metadata === "" ? null : parseMetadata(metadata),
        outcome,
        // A refusal has a text of its own.
        end: outcome.startsWith("[") ? parseOutcome(outcome) : null,
      }));
  }

  /** The account's open holds in Redis. */
  async holdRecords(account: TestAccount): Promise<HoldRecord[]> {
    const { redis } = this.parts.stores;
    const hashes = await redis.keys(holdsKey(account.bucket, "*"));
    const records = await Promise.all(hashes.map((hash) => redis.hvalsBuffer(hash)));
    return records
      .flat()
      .map(parseHold)
      .filter((hold) => hold.account === account.id);
  }

  /** The account's use of one of its daily limits. */
  async usedToday(account: TestAccount, name: string): Promise<number> {
    const { redis } = this.parts.stores;
    const key = limitKey({ bucket: account.bucket, account: account.id }, name);
    return unpack((await redis.getBuffer(key)) ?? Buffer.alloc(0))[1] ?? 0;
  }

  /** Posts a chat request; `body` may be an object or the text of a body. */
  post(
    account: Pick<TestAccount, "key"> | null,
    body: object | string | Uint8Array,
    init: RequestOptions = {},
  ): Promise<Response> {
    return this.postTo("/v1/chat/completions", account, body, init);
  }

  /** Posts to any path, as `post` does. */
  postTo(
    path: string,
    account: Pick<TestAccount, "key"> | null,
    body: object | string | Uint8Array,
    init: RequestOptions = {},
  ): Promise<Response> {
    const headers = {
      "content-type": "application/json",
      ...(account && { authorization: `Bearer ${account.key}` }),
      ...init.headers,
    };
    return this.request("POST", path, {
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      ...init,
      headers,
    });
  }

  get(path: string, account: Pick<TestAccount, "key"> | null = null): Promise<Response> {
    const headers: Record<string, string> =
      account === null ? {} : { authorization: `Bearer ${account.key}` };
    return this.request("GET", path, { headers });
  }

  /** Sends any request. Checks its reply against the documentation, as all other methods do. */
  async request(method: string, path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(this.parts.url + path, { ...init, method });
    await mustBeDocumented(method, path, response);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts.stop();
  }
}

export interface ErrorJson {
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/** The error that a response carries. */
export async function errorOf(response: Response): Promise<ErrorJson> {
  return ((await response.json()) as { error: ErrorJson }).error;
}

export interface CompletionJson {
  readonly id: string;
  readonly created: number;
  readonly choices: readonly {
    readonly message: { readonly role: string; readonly content: string | null };
    readonly finish_reason: string;
  }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  readonly svc: {
    readonly request_id: string;
    readonly cost_usd: number;
    readonly free_credit_usd: number;
  };
}

/** The completion that a response carries. */
export async function completionOf(response: Response): Promise<CompletionJson> {
  return (await response.json()) as CompletionJson;
}

/** A chat request for the test model. */
export function chatBody(fields: object = {}): object {
  return { model: MODEL.id, messages: [{ role: "user", content: "Hello" }], ...fields };
}

/** The cost of `promptTokens` and `completionTokens` of the test model. */
export function costOf(promptTokens: number, completionTokens: number): NanoUsd {
  return BigInt(promptTokens * 1_000 + completionTokens * 2_000) as NanoUsd;
}

/** Waits until `isSo` returns true. */
export function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  return eventually(what, isSo);
}

/** Opens a world on its own Redis, which a test can take away, and the stores of mail. */
async function openStores() {
  const server = await startPrivateRedis();
  const world = await openWorld({ redisUrl: server.url });
  const { database, databaseUrl, redis, accounts: actors, store: accounts, payments } = world;
  // A test that takes Redis away expects that its client finds out.
  redis.on("error", () => {});
  const mail = openMailStores({ database, redis, queueRedisUrl: server.url, log: silent });
  const close = async () => {
    await mail.close();
    await world[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  const { flush } = world;
  const opened = { server, database, databaseUrl, redis, actors, mail, accounts, payments };
  return { ...opened, flush, close };
}
