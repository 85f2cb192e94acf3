// Opens the console for fuzzing: people of every role in several accounts, operators, and another
// organisation, whose rows must stay unchanged and visible only to itself.

import { audit } from "../../../src/accounts/audit.ts";
import { ROLES, type Role } from "../../../src/core/access/roles.ts";
import { newId } from "../../../src/core/ids.ts";
import { describe } from "../../../src/core/journal/audit-finding.ts";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { openOperators } from "../../../src/operator/open-operators.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { setOperator } from "../../../src/store/people/known-people.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { flushForAudit } from "../../../workers/log-flush.ts";
import { eventually } from "../../support/eventually.ts";
import { totp } from "../../support/fakes/totp.ts";
import { identityOf } from "../../support/product/identity-of.ts";
import { must } from "../../support/product/product-checks.ts";
import { random } from "../../support/random.ts";
import { type BillingLab, openBillingLab } from "../../support/stores/billing-lab.ts";
import { PASSWORD, tokenIn, tokenOf, Visitor } from "../../unit/identity/people-lab.ts";
import type { KnownValues } from "./schema-values.ts";

/** A word in every name of the other organisation, and in no request. */
export const MARK = "otherorgsecret";
/** Accounts by their use: all that people do, the changes of operators, and closing. */
const ACCOUNTS = { account: 4, operated: 4, doomed: 3 } as const;
/** The sessions of each person; an operator has one, because a second factor ends the others. */
export const SESSIONS = 2;

/** The person whose session a request carries. */
export type Who = Role | "stranger" | "operator" | "operator_without_factor";
export const EVERYBODY: readonly Who[] = [
  ...ROLES,
  "stranger",
  "operator",
  "operator_without_factor",
];

export interface ConsoleLab extends AsyncDisposable {
  readonly billing: BillingLab;
  readonly port: number;
  /** The values behind the names in requests. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Names of values by the field or part of a path that they are for: ours, and the others'. */
  readonly own: KnownValues;
  readonly others: KnownValues;
  /** The values that belong to an account of ours, by the account's name. */
  readonly belongings: ReadonlyMap<string, KnownValues>;
  /** Restores the sessions, factors and roles that requests have ended. */
  heal(): Promise<void>;
  /** All rows of the other organisation. */
  otherRows(): Promise<string>;
  /** Throws if an audit of all accounts has a finding. */
  prove(): Promise<void>;
}

/** The domain of the names in an account, and the function that records the ids. */
interface Filling {
  readonly domain: string;
  readonly keep: (field: string, value: string) => void;
}

const CALL = { model: "qwen/qwen3", messages: [{ role: "user", content: "Hi" }], max_tokens: 5 };

/** The tables with a person's data, by the column that names the person. */
const OF_PEOPLE = {
  people: "id",
  sessions: "person",
  person_credentials: "person",
  two_factors: "person",
  memberships: "person",
} as const;

/** A row without its due time: operators make all waiting mails due at once. */
const ROW = "(to_jsonb(t) - 'next_attempt_at')::text";

export async function openConsoleLab(): Promise<ConsoleLab> {
  const billing = await openBillingLab({}, (stores) => {
    const identity = identityOf(stores);
    const operators = openOperators({ operatorAddresses: [], sso: null });
    return { services: { people: identity, identity, operators }, trustedProxies: ["127.0.0.1"] };
  });
  const lab = new OpenLab(billing);
  await lab.openPeople();
  await lab.openAccounts();
  await lab.openOthers();
  await lab.save();
  return lab;
}

class OpenLab implements ConsoleLab {
  readonly secrets = new Map<string, string>();
  readonly own = new Map<string, unknown[]>();
  readonly others = new Map<string, unknown[]>();
  readonly belongings = new Map<string, Map<string, unknown[]>>();
  readonly #visitors = new Map<Who | "other", Visitor>();
  readonly #people: string[] = [];
  #other = 0;

  constructor(readonly billing: BillingLab) {
    // A host name, because passkeys are impossible at an IP address.
    const host = `localhost:${billing.world.api.parts.port}`;
    this.secrets.set("KNOWN_origin", `http://${host}`);
    this.secrets.set("KNOWN_host", host);
  }

  get port(): number {
    return this.billing.world.api.parts.port;
  }

  get #sql() {
    return this.billing.world.api.parts.stores.database.sql;
  }

  async openPeople(): Promise<void> {
    const everybody = [...EVERYBODY, "other" as const];
    const emailOf = (who: Who | "other") =>
      who === "other" ? `ceo@${MARK}.test` : `${who}@fuzz.test`;
    await Promise.all(
      everybody.map(async (who, index) => {
        const visitor = this.#visitor(`100.65.${index}.1`);
        this.#visitors.set(who, visitor);
        await visitor.signUp(emailOf(who));
      }),
    );
    for (const [index, who] of everybody.entries()) {
      const email = emailOf(who);
      const visitor = this.#visitorOf(who);
      if (who === "other") continue;
      if (who.startsWith("operator")) {
        await setOperator(this.billing.world.api.parts.stores.database, email, true);
      }
      if (who === "operator") await this.#addFactor(visitor, email);
      this.#keepCookies(`KNOWN_session_${who}_0`, visitor);
      for (let session = 1; session < SESSIONS && who !== "operator"; session += 1) {
        const again = this.#visitor(`100.65.${index}.${session + 1}`);
        await again.signIn(email);
        this.#keepCookies(`KNOWN_session_${who}_${session}`, again);
      }
      const [row] = await this.#sql`SELECT id FROM people WHERE email = ${email}`;
      this.#people.push(String(row?.id));
      this.#know(this.own, "person", String(row?.id));
      this.#know(this.own, "email", email);
    }
    for (const password of [PASSWORD, PASSWORD, "another long password"]) {
      for (const field of ["password", "currentPassword", "newPassword"]) {
        this.own.set(field, [...(this.own.get(field) ?? []), password]);
      }
    }
  }

  #visitor(ip: string): Visitor {
    return new Visitor(this.billing.world.api.parts.url, ip);
  }

  /** In a session that began with a link from the command line, as is required. */
  async #addFactor(visitor: Visitor, email: string): Promise<void> {
    const { database } = this.billing.world.api.parts.stores;
    const person = await new PeopleStore(database).findByEmail(email);
    const made = { personId: person?.id ?? "", origin: "http://127.0.0.1" };
    const link = await makeSignInLink(database, made, { random, now: new Date() });
    await visitor.auth("/sign-in/link", { token: tokenIn(link) });
    const begun = await visitor.auth("/two-factor/enable", { password: PASSWORD });
    const secret = new URL(begun.body.totpURI).searchParams.get("secret") ?? "";
    const confirmed = await visitor.auth("/two-factor/verify-totp", { code: totp(secret) });
    must(confirmed.status === 200, () => `The operator has no second factor: ${confirmed.text}`);
  }

  #keepCookies(name: string, { cookies }: Visitor): void {
    this.secrets.set(name, [...cookies].map(([cookie, of]) => `${cookie}=${of}`).join("; "));
  }

  /** Stores a value under its own name, which stands for it in requests; returns the name. */
  #know(values: Map<string, unknown[]>, field: string, value: string): string {
    const known = values.get(field) ?? [];
    const place = values === this.own ? "" : "other_";
    const name = `KNOWN_${place}${field}_${known.length}`;
    this.secrets.set(name, value);
    values.set(field, [...known, name]);
    return name;
  }

  /** Stores a value of an account of ours in the same way. */
  #keep(account: string, field: string, value: string): void {
    const name = this.#know(this.own, field, value);
    const of = this.belongings.get(account) ?? new Map<string, unknown[]>();
    of.set(field, [...(of.get(field) ?? []), name]);
    this.belongings.set(account, of);
  }

  async openAccounts(): Promise<void> {
    const { world } = this.billing;
    const kinds = Object.entries(ACCOUNTS).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => ({ kind, index })),
    );
    for (const { kind, index } of kinds) {
      const surface = index === 3 ? ("application" as const) : ("gateway" as const);
      const plan = surface === "application" ? { plan: "pro" as const } : {};
      const account = await world.api.account({ paid: "500", surface, ...plan });
      const { stores } = world.api.parts;
      const row = await stores.accounts.find(account.id);
      const name = this.#know(this.own, kind, account.id);
      this.#keep(name, "key", account.keyId);
      const call = await world.api.post(account, CALL);
      this.#keep(name, "request", call.headers.get("x-request-id") ?? "");
      if (row === null) throw new Error("There is no such account");
      for (const payment of await stores.payments.list(row)) {
        this.#keep(name, "payment", payment.id);
      }
      if (kind === "operated") continue;
      for (const [at, role] of ROLES.entries()) {
        const person = this.#people[at] ?? "";
        await this.#sql`
          INSERT INTO memberships (account, person, role, joined_at)
          VALUES (${row.number}, ${person}, ${role}, now())`;
      }
      await this.#fill(account.id, this.#visitorOf("owner"), {
        domain: "ours.test",
        keep: (field, value) => this.#keep(name, field, value),
      });
    }
    const sessions = await this.#sql`SELECT id FROM sessions WHERE person = ANY(${this.#people})`;
    for (const { id } of sessions) this.#know(this.own, "session", String(id));
  }

  #visitorOf(who: Who | "other"): Visitor {
    const visitor = this.#visitors.get(who);
    if (visitor === undefined) throw new Error(`Nobody is ${who}`);
    return visitor;
  }

  /** Gives an account a key with its limits, an invitation, a webhook, a card, a top-up, a name. */
  async #fill(account: string, by: Visitor, { domain, keep }: Filling): Promise<void> {
    const path = (below: string) => `/console/api/accounts/${account}/${below}`;
    const key = await by.post(path("keys"), { name: `Key of ${domain}`, scopes: ["models"] });
    keep("key", String(key.body.created?.id));
    const email = `${newId("person", random).toLowerCase()}@${domain}`;
    const invited = await by.post(path("invitations"), { email, role: "viewer" });
    const token = tokenOf(invited);
    if (token !== null) keep("token", token);
    const team = await by.get(path("team"));
    keep("invitation", String(team.body.invitations?.[0]?.id));
    await by.post(path("rename"), { name: `Account of ${domain}` });
    const hook = { url: `https://${domain}/hook`, description: domain, events: ["balance.low"] };
    const { body } = await by.post(path("webhooks"), hook);
    keep("webhook", String(body.webhook?.id));
    const [run] = await this.#sql`
      INSERT INTO runs (account, id, key, amount, ends_at)
      SELECT account, ${`run-${domain}`}, number, 1000000000, now() + interval '1 day'
      FROM keys WHERE id = ${String(key.body.created?.id)} RETURNING id`;
    if (run !== undefined) keep("run", String(run.id));
    const burn = await by.post(path("burn-rules"), { above_usd: "9", action: "alert" });
    keep("rule", String(burn.body.rules?.[0]?.number));
    await this.#sql`
      INSERT INTO burn_alarms (account, key, rule, amount, action, minutes, spent, threshold, at,
        ends_at)
      SELECT account, number, '0', 1, 'pause', 60, 1, 1, now(), now() + interval '1 hour'
      FROM keys WHERE id = ${String(key.body.created?.id)}`;
    const begun = await by.post(path("top-ups/checkout"), { amount_usd: "25", save_card: true });
    if (begun.status !== 200) return;
    await this.billing.pay(begun.body.top_up?.url);
    keep("topup", String(begun.body.top_up?.id));
  }

  async openOthers(): Promise<void> {
    const other = this.#visitorOf("other");
    const me = await other.get("/console/api/me");
    const account = String(me.body.accounts[0]?.id);
    await this.#fill(account, other, {
      domain: `${MARK}.test`,
      keep: (field, value) => this.#know(this.others, field, value),
    });
    const [row] = await this.#sql`SELECT number FROM accounts WHERE id = ${account}`;
    this.#other = Number(row?.number);
    this.#know(this.others, "account", account);
    const [person] = await this.#sql`SELECT id FROM people WHERE email = ${`ceo@${MARK}.test`}`;
    this.#know(this.others, "person", String(person?.id));
    const sessions = await this.#sql`SELECT id FROM sessions WHERE person = ${String(person?.id)}`;
    for (const { id } of sessions) this.#know(this.others, "session", String(id));
  }

  /** Saves the present state of all people, once everything begun has ended. */
  async save(): Promise<void> {
    const { store } = this.billing.sandbox.actions;
    await eventually("every payment is booked, and every event of them delivered", async () => {
      const [row] = await this.#sql`
        SELECT count(*)::int AS open FROM top_ups WHERE payment IS NULL`;
      const [unapplied] = await this.#sql`
        SELECT count(*)::int AS open FROM accounts
        WHERE number = ${this.#other} AND version > applied_version`;
      const isFlushed = (await this.#flush()).length === 0;
      return (
        isFlushed && row?.open === 0 && unapplied?.open === 0 && store.undelivered.length === 0
      );
    });
    await this.#noteCards();
    for (const [table, column] of Object.entries(OF_PEOPLE)) {
      await this.#sql.unsafe(
        `CREATE TABLE saved_${table} AS SELECT * FROM ${table} WHERE ${column} = ANY($1)`,
        [this.#people],
      );
    }
  }

  /** A card is saved once its payment is booked. */
  async #noteCards(): Promise<void> {
    const names = new Map([...this.secrets].map(([name, value]) => [value, name]));
    const cards = await this.#sql`
      SELECT c.id, a.id AS account, c.account AS number
      FROM saved_cards c JOIN accounts a ON a.number = c.account`;
    for (const { id, account, number } of cards) {
      if (Number(number) === this.#other) this.#know(this.others, "card", String(id));
      else this.#keep(names.get(String(account)) ?? "", "card", String(id));
    }
  }

  async heal(): Promise<void> {
    await this.#sql.begin(async (tx) => {
      await tx`SET LOCAL session_replication_role = replica`;
      for (const [table, column] of Object.entries(OF_PEOPLE)) {
        await tx.unsafe(`DELETE FROM ${table} WHERE ${column} = ANY($1)`, [this.#people]);
        await tx.unsafe(`INSERT INTO ${table} SELECT * FROM saved_${table}`);
      }
    });
  }

  async otherRows(): Promise<string> {
    const tables = await this.#sql`
      SELECT c.table_name AS name, c.column_name AS of FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
        AND c.table_name NOT LIKE 'saved_%' AND c.data_type = 'bigint'
        AND (c.column_name = 'account' OR c.table_name = 'accounts' AND c.column_name = 'number')
      ORDER BY c.table_name`;
    const rows: string[] = [];
    for (const { name, of } of tables) {
      const found = await this.#sql.unsafe(
        `SELECT ${ROW} AS row FROM ${name} t WHERE ${of} = $1 ORDER BY 1`,
        [this.#other],
      );
      rows.push(...found.map(({ row }) => `${name} ${row}`));
    }
    for (const [table, column] of Object.entries(OF_PEOPLE)) {
      const found = await this.#sql.unsafe(
        `SELECT ${ROW} AS row FROM ${table} t
         WHERE ${column} = (SELECT id FROM people WHERE email = $1) ORDER BY 1`,
        [`ceo@${MARK}.test`],
      );
      rows.push(...found.map(({ row }) => `${table} ${row}`));
    }
    return rows.join("\n");
  }

  #flush(): ReturnType<typeof flushForAudit> {
    const { database, actors } = this.billing.world.api.parts.stores;
    return flushForAudit(actors.scripts, new Ledger(database));
  }

  async prove(): Promise<void> {
    const { database, redis } = this.billing.world.api.parts.stores;
    const deps = {
      redis,
      repository: new AuditRepository(database),
      graceMs: 30_000,
      flush: () => this.#flush(),
      sleep: Bun.sleep,
    };
    const { difference, rejected } = await audit(deps, null);
    must(difference === null, () => `The audit: ${difference && describe(difference)}`);
    must(rejected.length === 0, () => `${rejected.length} entries of the journal were rejected`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.billing[Symbol.asyncDispose]();
  }
}
