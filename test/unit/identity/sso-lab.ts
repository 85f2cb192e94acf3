// Serves a console whose operators sign in through a real provider of single sign-on.

import type { SsoConfig } from "../../../src/identity/sso.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  OidcIssuer,
  type Somebody,
} from "../../support/fakes/oidc-issuer.ts";
import { PeopleLab, type Visitor } from "./people-lab.ts";

const REDIRECT_URI = "http://127.0.0.1/dashboard/sso";

export class SsoLab implements AsyncDisposable {
  constructor(
    readonly people: PeopleLab,
    readonly issuer: OidcIssuer,
    readonly config: SsoConfig,
  ) {}

  static async start(options: Partial<SsoConfig> = {}, now = Date.now): Promise<SsoLab> {
    const issuer = await OidcIssuer.start([REDIRECT_URI]);
    const sso: SsoConfig = {
      issuer: issuer.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      group: null,
      acr: null,
      isRequired: false,
      ...options,
    };
    return new SsoLab(await PeopleLab.start({ config: { sso }, now }), issuer, sso);
  }

  /** An operator who has signed in with a link from the command line. */
  operator(email: string): Promise<Visitor> {
    return this.people.operator(email);
  }

  /** Begins a sign-in in this browser. Returns the address of the provider's page. */
  async begin(visitor: Visitor, returnTo = "/operator"): Promise<string> {
    const begun = await visitor.auth("/sign-in/sso/begin", { return_to: returnTo });
    if (begun.status !== 200) throw new Error(`${begun.status} ${begun.text}`);
    return begun.body.url;
  }

  finish(visitor: Visitor, query: string) {
    return visitor.auth("/sign-in/sso", { query });
  }

  /** Signs a person in, in this browser, from beginning to end. */
  async signIn(somebody: Partial<Somebody>, visitor = this.people.visitor()) {
    this.issuer.somebody = { sub: "sub-1", email: "", email_verified: true, ...somebody };
    const query = await this.issuer.signIn(await this.begin(visitor));
    return { visitor, query, answer: await this.finish(visitor, query) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.people[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}

/** The answer of an operators' page to this browser. */
export async function operatorPage(visitor: Visitor): Promise<string> {
  const { status, body } = await visitor.get("/console/operator/trail");
  return status === 200 ? "open" : `${status} ${body.error.code}`;
}
