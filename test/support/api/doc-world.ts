// An installation on which the commands of the pages run as they stand: an API with a mail server,
// a sandbox of payments, the tool on the same stores, and a folder with the files that pages name.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startSandbox } from "../../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { SCOPES } from "../../../src/core/access/services.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { ANY_SERVICE } from "../doc-blocks.ts";
import { CONFIGURATION, firstCode, writeConfiguration, writeFiles } from "../doc-files.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { silent } from "../fakes/silent-log.ts";
import { type Cli, cliIn } from "../product/run-cli.ts";
import { random } from "../random.ts";
import { atEnd, sharedFolder } from "../shared.ts";
import type { AccountTerms, TestAccount } from "../stores/accounts.ts";
import { SECRET_KEY, WEBHOOK_SECRET } from "../stores/payment-lab.ts";
import { receive } from "../stores/webhook-lab.ts";
import { workIn } from "../work-in.ts";
import { type ApiWorld, chatBody, completionOf, PEPPER } from "./api-world.ts";
import { MODEL } from "./models.ts";
import { sharedMail } from "./shared-api.ts";

/** The keys of providers that configurations of pages name. */
const PROVIDER_KEYS = { MAIN_API_KEY: "k", OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
/** The month in which the pages were written, counted from the year 0. */
const MONTH_OF_PAGES = 2026 * 12 + 10;
const CODE_OF_PAGES = "k3vq-7zma-2bcd-efgh-ijkl-mnop";

/** The models that pages name. */
const catalogue = catalogueOf(
  [
    MODEL,
    { ...MODEL, id: "swift-1" },
    { ...MODEL, id: "farebox-guide" },
    { ...MODEL, id: "vectors-1", serves: "embedding" },
    { ...MODEL, id: "ranks-1", serves: "rerank" },
  ],
  [],
);

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What the words of a page stand for: its account, its key, and a call of the account. */
export interface Reader {
  readonly account: TestAccount;
  readonly requestId: string;
  readonly tool: Cli;
  /** What further words of the page stand for. */
  readonly words: Readonly<Record<string, string>>;
}

export interface DocWorld {
  readonly api: ApiWorld;
  /** The folder that commands run in. */
  readonly folder: string;
  /** A new account that can do what a page says, and a call that it made in a run. */
  reader(page: string): Promise<Reader>;
  /** A text of a page for this service, this time and this reader. */
  here(text: string, reader: Reader): string;
  /** Runs a program in the folder. */
  run(command: readonly string[], key: string, input?: string): Promise<Outcome>;
}

const APPLICATION = { surface: "application", plan: "max", paid: "9" } as const;
const RICH = { contract: "enterprise", paid: "100", scopes: SCOPES } as const;
/** Accounts of pages that need another than one that may do everything. */
const TERMS: Readonly<Record<string, AccountTerms>> = {
  "docs/application.md": { ...APPLICATION, plan: "starter" },
  "docs/vouchers.md": {},
};

type Words = Reader["words"];

/** The things that a page has done before its commands; the result is for `words`. */
const BEFORE: Readonly<Record<string, (reader: Reader, api: ApiWorld) => Promise<Words>>> = {
  "docs/configuration.md": async ({ tool }) => {
    for (const version of ["1", "2", "3"]) await applied(tool, `Version ${version}`);
    writeConfiguration("Prices of December");
    return {};
  },
  "docs/prices.md": async ({ tool }) => {
    await applied(tool, `Prices ${random(4).toHex()}`);
    return {};
  },
  "docs/receipts.md": async ({ account, requestId, tool }, api) => {
    const answer = await fetch(`${api.parts.url}/.well-known/jwks.json`);
    writeFileSync("keys.json", await answer.text());
    const month = new Date().toISOString().slice(0, "2026-11".length);
    const shown = async (...args: readonly string[]) => (await tool(...args, "--json")).out;
    writeFileSync("receipt.json", await shown("receipt", "show", account.id, requestId));
    const statement = await shown("statement", "show", account.id, "--month", month);
    writeFileSync(`statement-${month}.json`, statement);
    return {};
  },
  "docs/webhooks.md": async ({ account, tool }, { parts: { stores } }) => {
    const url = "https://hooks.example/";
    const { accounts: store, database } = stores;
    const { id } = await receive({ store }, account, { url, events: ["payment.succeeded"] });
    for (const usd of ["20", "30"]) await tool("payment", "record", account.id, "--usd", usd);
    const rows = await database.sql<{ number: string }[]>`
      UPDATE webhook_deliveries SET status = 'failed', attempts = 9, http_status = 503,
        error = 'It answered 503', started_at = now() - interval '1 hour', ended_at = now()
      WHERE receiver = (SELECT number FROM webhook_receivers WHERE id = ${id}) RETURNING number`;
    return { "hook_…": id, "--delivery 41": `--delivery ${rows[0]?.number}` };
  },
};

async function applied(tool: Cli, note: string): Promise<void> {
  writeConfiguration(note);
  const { code, err } = await tool("config", "apply", CONFIGURATION);
  if (code !== 0) throw new Error(err);
}

/** Opens the world for the tests of a file. */
export async function openDocWorld(): Promise<DocWorld> {
  const { api, smtp } = await sharedMail({ catalogue: () => catalogue });
  const folder = sharedFolder("commands");
  workIn(folder, PROVIDER_KEYS);
  const sandbox = startSandbox({
    port: 0,
    file: null,
    secretKey: SECRET_KEY,
    webhook: { url: api.parts.url, secret: WEBHOOK_SECRET },
    now: Date.now,
    random,
    after: realClock.after,
    log: silent,
  });
  atEnd(() => sandbox.stop());
  const application = await api.account(APPLICATION);
  const gateway = await api.account(RICH);
  const env = {
    ...PROVIDER_KEYS,
    REDIS_URL: api.parts.stores.server.url,
    DATABASE_URL: api.parts.stores.databaseUrl,
    KEY_PEPPER: PEPPER,
    IP_HASH_SECRET: "ip secret of the tests",
    RECEIPT_SECRET: PEPPER,
    CONSOLE_URL: "http://127.0.0.1:8080",
    SESSION_SECRET: "session secret of the tests",
    MAIL_DOMAIN: "mail.test",
    MAIL_SMTP_URL: `${smtp.url}?tls=none`,
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_RETURN_URL: "https://farebox.example/",
    STRIPE_API_BASE: sandbox.url,
    FAREBOX_DATA: join(folder, "data"),
  };
  writeFiles();
  return {
    api,
    folder,
    reader: async (page) => {
      const account = await api.account(TERMS[page] ?? RICH);
      const tool = cliIn({ ...env, FAREBOX_API_KEY: account.key });
      const reader = { account, tool, requestId: await callOf(api, account), words: {} };
      return { ...reader, words: (await BEFORE[page]?.(reader, api)) ?? {} };
    },
    here: (text, { account, requestId, words }) =>
      Object.entries(words)
        .reduce((all, [word, meant]) => all.replaceAll(word, meant), atThisTime(text))
        .replaceAll(ANY_SERVICE, api.parts.url)
        .replaceAll("https://api.example.com", api.parts.url)
        .replaceAll("svc_live_…", gateway.key)
        .replaceAll("svc_sk_…", application.key)
        .replaceAll(/\bacct_(?:…|\w{22})/g, account.id)
        .replaceAll("key_…", account.keyId)
        .replaceAll(/\breq_\w{22}/g, requestId)
        .replaceAll(/ \/(backups|data)\//g, ` ${folder}/$1/`)
        .replaceAll(CODE_OF_PAGES, () => firstCode()),
    run: async (command, key, input = "") => {
      const child = Bun.spawn([...command], {
        cwd: folder,
        env: { ...process.env, KEY: key },
        stdin: Buffer.from(input),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { code: await child.exited, out, err };
    },
  };
}

/** The id of a call that the account made in the run and for the end user that pages name. */
async function callOf(api: ApiWorld, account: TestAccount): Promise<string> {
  if (account.row.surface === "application") return "";
  const headers = {
    "x-svc-run": "nightly-7; max-usd=2.00; ttl=3600",
    "x-svc-end-user": "customer-4711",
  };
  const { svc } = await completionOf(await api.post(account, chatBody(), { headers }));
  await api.parts.stores.flush();
  return svc.request_id;
}

/** Moves the months of a text to the present. */
function atThisTime(text: string): string {
  const now = new Date();
  const moved = now.getUTCFullYear() * 12 + now.getUTCMonth() - MONTH_OF_PAGES;
  return text.replaceAll(/\b(20\d\d)-(\d\d)(-\d\d)?\b/g, (_, year, month, day = "") => {
    const months = Number(year) * 12 + Number(month) - 1 + moved;
    const then = `${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, "0")}`;
    // Each month has 28 days.
    return then + (day > "-28" ? "-28" : day);
  });
}
