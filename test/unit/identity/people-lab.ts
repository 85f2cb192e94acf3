// Serves the console over real HTTP, with people who sign up and in as a browser does: they keep
// cookies and send the origin of their page.

import type { TransactionSql } from "postgres";
import type { Identity } from "../../../src/identity/identity.ts";
import { makeSignInLink } from "../../../src/identity/sign-in-link.ts";
import { openOperators } from "../../../src/operator/open-operators.ts";
import { setOperator } from "../../../src/store/people/known-people.ts";
import { type ApiStores, ApiWorld } from "../../support/api/api-world.ts";
import { servicesOf } from "../../support/api/console-world.ts";
import { eventually } from "../../support/eventually.ts";
import { totp } from "../../support/fakes/totp.ts";
import { type IdentityTerms, identityOf } from "../../support/product/identity-of.ts";
import { random } from "../../support/random.ts";

export const PASSWORD = "a good long password";

export interface LabOptions {
  readonly config?: IdentityTerms;
  readonly now?: () => number;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
  readonly body: any;
}

export class PeopleLab implements AsyncDisposable {
  constructor(
    readonly api: ApiWorld,
    readonly identity: Identity,
  ) {}

  static async start({ config = {}, now = Date.now }: LabOptions = {}): Promise<PeopleLab> {
    let identity: Identity | null = null;
    const api = await ApiWorld.start((stores) => {
      identity = identityOf(stores, config, now);
      const operators = openOperators({ operatorAddresses: [], sso: config.sso ?? null });
      const console = { ...servicesOf(stores), people: identity, identity, operators };
      return { console, trustedProxies: ["127.0.0.1"] };
    });
    if (identity === null) throw new Error("There is no identity");
    return new PeopleLab(api, identity);
  }

  get stores(): ApiStores {
    return this.api.parts.stores;
  }

  /** A browser without cookies at its own address. */
  visitor(ip = newAddress(), url = this.api.parts.url): Visitor {
    return new Visitor(url, ip);
  }

  /** A person with a verified inbox, signed in with a password. */
  async person(email: string, ip?: string): Promise<Visitor> {
    const visitor = this.visitor(ip);
    await visitor.signUp(email);
    return visitor;
  }

  /** An operator who has signed in with a link from the command line. */
  async operator(email: string): Promise<Visitor> {
    const visitor = await this.person(email);
    const { database } = this.stores;
    await setOperator(database, email, true);
    const personId = (await this.identity.store.findByEmail(email))?.id ?? "";
    const made = { personId, origin: "http://127.0.0.1" };
    const link = await makeSignInLink(database, made, { random, now: new Date() });
    const { status, text } = await visitor.auth("/sign-in/link", { token: tokenIn(link) });
    if (status !== 200) throw new Error(`${status} ${text}`);
    return visitor;
  }

  /** Ends the windows of all attempts. */
  async forgetAttempts(): Promise<void> {
    await this.stores.database.sql`DELETE FROM attempts`;
  }

  /** Runs `work` while a change waits for a row that `lock` keeps. Returns the change's answer. */
  async whileItWaits<T>(
    lock: (tx: TransactionSql) => PromiseLike<readonly { readonly pid?: unknown }[]>,
    change: () => Promise<T>,
    work: () => Promise<void> = async () => {},
  ): Promise<T> {
    const { sql } = this.stores.database;
    const { answer } = await sql.begin(async (tx) => {
      const [locked] = await lock(tx);
      const answer = change();
      await eventually("the change waits for the row", async () => {
        const [row] = await sql`
          SELECT count(*)::int AS waiting FROM pg_stat_activity
          WHERE ${Number(locked?.pid)} = ANY (pg_blocking_pids(pid))`;
        return row?.waiting > 0;
      });
      await work();
      return { answer };
    });
    return await answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { fields, message } of this.api.errors) console.error(message, fields);
    await this.api[Symbol.asyncDispose]();
  }
}

let addresses = 0;

/** An address in a network that no visitor had before. */
function newAddress(): string {
  addresses += 1;
  return `100.${64 + (addresses >> 8)}.${addresses & 255}.7`;
}

export class Visitor {
  readonly cookies = new Map<string, string>();

  constructor(
    readonly url: string,
    readonly ip: string,
  ) {}

  async get(path: string): Promise<Reply> {
    return await this.#send(path, { method: "GET" });
  }

  async post(path: string, body: object = {}, headers: Record<string, string> = {}) {
    return await this.#send(path, {
      method: "POST",
      headers: { "content-type": "application/json", origin: this.url, ...headers },
      body: JSON.stringify(body),
    });
  }

  auth(path: string, body: object = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post(`/console/auth${path}`, body, headers);
  }

  /** Asks for an account. Returns the token of the mailed link, or null if no link was mailed. */
  async askForAccount(email: string, password = PASSWORD): Promise<string | null> {
    const asked = await this.auth("/sign-up/email", { email, name: "Ada", password });
    if (asked.status !== 200) throw new Error(`${asked.status} ${asked.text}`);
    return tokenOf(asked);
  }

  async signUp(email: string): Promise<void> {
    const token = await this.askForAccount(email);
    const verified = await this.auth("/sign-up/verify", { token });
    if (verified.body.signed_in !== true) throw new Error(`${verified.status} ${verified.text}`);
  }

  /** The id of the first account that they belong to. */
  async firstAccount(): Promise<string> {
    return (await this.get("/console/api/me")).body.accounts[0].id;
  }

  signIn(email: string, password = PASSWORD): Promise<Reply> {
    return this.auth("/sign-in/email", { email, password });
  }

  /** Asks for a code by mail. Returns the code, which the answer shows in development. */
  async askForCode(email: string): Promise<string> {
    const sent = await this.auth("/email-otp/send-verification-otp", { email });
    if (sent.status !== 200) throw new Error(`${sent.status} ${sent.text}`);
    return sent.body.development.code;
  }

  /** Signs in with a mailed code. */
  enterCode(email: string, otp: string): Promise<Reply> {
    return this.auth("/sign-in/email-otp", { email, otp });
  }

  /** Turns on the second factor of the person who is signed in here. Returns its secret. */
  async turnOnSecondFactor(): Promise<string> {
    const { body } = await this.auth("/two-factor/enable", { password: PASSWORD });
    const secret = new URL(body.totpURI).searchParams.get("secret") ?? "";
    const verified = await this.auth("/two-factor/verify-totp", { code: totp(secret) });
    if (verified.status !== 200) throw new Error(`${verified.status} ${verified.text}`);
    return secret;
  }

  /** True if this browser has a valid session. */
  async isSignedIn(): Promise<boolean> {
    return (await this.get("/console/api/models")).status === 200;
  }

  async #send(path: string, init: RequestInit): Promise<Reply> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = new Headers(init.headers);
    if (cookie !== "") headers.set("cookie", cookie);
    headers.set("x-forwarded-for", this.ip);
    const response = await fetch(`${this.url}${path}`, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : null,
    };
  }

  #keep(line: string): void {
    const [pair = ""] = line.split(";");
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === "" || /max-age=0/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** A code of the same form that is not this one. */
export function wrongCode(code: string): string {
  return code === "000000" ? "111111" : "000000";
}

/** The token in the address of a page. */
export function tokenIn(link: string): string | null {
  return new URLSearchParams(new URL(link).hash.slice(1)).get("token");
}

/** The token of the link that an answer shows in development. */
export function tokenOf({ body }: Reply): string | null {
  const link = body?.development?.link as string | undefined;
  return link === undefined ? null : tokenIn(link);
}
