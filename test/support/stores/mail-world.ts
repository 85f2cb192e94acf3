// Runs the API and a mail worker in this process, in front of a mail server that the test scripts.

import { type ConnectionOptions, Queue } from "bullmq";
import { Registry } from "prom-client";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { parseRelay } from "../../../src/services/mail/smtp-relay.ts";
import type { Catalogue } from "../../../src/settings/catalogue.ts";
import type { MailConfig } from "../../../src/settings/config.ts";
import type { MailMessage } from "../../../src/store/mail/mail-messages.ts";
import { MAIL_QUEUE, MAIL_QUEUE_PREFIX } from "../../../src/store/mail/mail-queue.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { type MailWorker, startMailWorker } from "../../../workers/mail-worker.ts";
import { ApiWorld, MAIL_DOMAIN, PEPPER } from "../api/api-world.ts";
import { eventually } from "../eventually.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { ScriptedSmtp, startTls } from "../fakes/scripted-smtp.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "./accounts.ts";

export interface MailWorld extends AsyncDisposable {
  readonly api: ApiWorld;
  readonly smtp: ScriptedSmtp;
  readonly worker: MailWorker;
  /** Posts a message. */
  send(account: TestAccount, body: object, key?: string): Promise<Response>;
  status(account: TestAccount, id: string): Promise<Record<string, unknown>>;
  /** The message in its stored form. */
  stored(id: string): Promise<MailMessage>;
  untilSettled(id: string): Promise<void>;
  /** Makes every waiting message due now, loses its job, and lets the completer find it. */
  retryNow(): Promise<void>;
}

export interface MailWorldOptions {
  readonly waitMs?: number;
  /** TLS by STARTTLS; no authority has signed the server's certificate. */
  readonly tls?: "required";
  readonly mail?: Partial<MailConfig>;
  /** A Redis for the worker's queue alone: the completer reaches it, but the API does not. */
  readonly queueUrl?: string;
  /** The models; left out: those of every API. */
  readonly catalogue?: () => Catalogue;
}

const TIMEOUT_MS = 1_000;

export async function startMailWorld(options: MailWorldOptions = {}): Promise<MailWorld> {
  const resources = new AsyncDisposableStack();
  const { catalogue } = options;
  const parts = catalogue === undefined ? {} : { catalogue };
  const api = resources.use(await ApiWorld.start(parts, { mailWaitMs: options.waitMs ?? 5_000 }));
  const { tls = "none" } = options;
  const smtp = resources.use(await ScriptedSmtp.start(tls === "none" ? {} : startTls()));
  const address = parseRelay(`${smtp.url}?tls=${tls}`);
  const relay = { ...address, name: MAIL_DOMAIN, timeoutMs: TIMEOUT_MS };
  const { stores, log } = api.parts;
  const { queueUrl = stores.server.url } = options;
  const worker = await startMailWorker({
    brand: () => DEFAULT_BRAND,
    config: {
      secrets: { KEY_PEPPER: [PEPPER], IP_HASH_SECRET: ["ip secret of the tests"] },
      queueRedisUrl: queueUrl,
      payments: null,
      console: null,
      mail: {
        domain: MAIL_DOMAIN,
        relay,
        connections: 10,
        buying: null,
        waitMs: 0,
        dkim: null,
        bounces: null,
        ...options.mail,
      },
    },
    log,
    accounts: stores.actors,
    database: stores.database,
    redis: stores.redis,
    registry: new Registry(),
    now: Date.now,
    after: realClock.after,
  });
  resources.defer(() => worker.stop());
  const { sql } = stores.database;
  const connection = openRedis(queueUrl, "queue");
  resources.defer(() => connection.disconnect());
  const jobs = new Queue(MAIL_QUEUE, {
    connection: connection as ConnectionOptions,
    prefix: MAIL_QUEUE_PREFIX,
  });
  return {
    api,
    smtp,
    worker,
    send: (account, body, key) =>
      api.postTo("/v1/mail/send", account, body, {
        ...(key !== undefined && { headers: { "idempotency-key": key } }),
      }),
    status: async (account, id) =>
      (await (await api.get(`/v1/mail/messages/${id}`, account)).json()) as Record<string, unknown>,
    stored: (id) => stores.mail.messages.get(id),
    untilSettled: (id) =>
      eventually("the message is settled", async () => {
        return (await stores.mail.messages.get(id)).cost !== null;
      }),
    retryNow: async () => {
      await jobs.drain(true);
      await eventually("no attempt is under way", async () => {
        const [row] = await sql`SELECT count(*)::int AS claimed FROM mail_messages
          WHERE status = 'queued' AND claimed_until IS NOT NULL`;
        return row?.claimed === 0;
      });
      await sql`UPDATE mail_messages SET next_attempt_at = now() - interval '1 minute'
        WHERE status = 'queued'`;
      await worker.jobs["mail-completer"].run();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export interface ResultJson {
  readonly object: string;
  readonly id: string;
  readonly status: string;
  readonly from: string;
  readonly recipients: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly svc: { readonly request_id: string; readonly cost_usd: number };
}

/** The answer to a send. */
export async function resultOf(response: Response): Promise<ResultJson> {
  return (await response.json()) as ResultJson;
}

/** An account of a tier with mail. */
export function mailAccount(api: ApiWorld, options: AccountTerms = {}): Promise<TestAccount> {
  return api.account({ scopes: ["mail", "models"], paid: "60", paidAt: daysAgo(8), ...options });
}

/** A request body. */
export function mailBody(fields: object = {}): object {
  return { to: "ada@example.test", subject: "Hello", text: "A line.", ...fields };
}
