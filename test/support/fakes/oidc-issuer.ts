// Runs a real OpenID Connect provider over HTTP. A test chooses the person who signs in and the
// claims about them, and can change an ID token before it is answered.

import { generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider/lib/provider.js";
import { oidcStorage } from "./oidc-storage.ts";

export const CLIENT_ID = "farebox";
export const CLIENT_SECRET = "the secret of the client in tests";

/** The person who signs in next. */
export interface Somebody {
  sub: string;
  email: string | undefined;
  email_verified: unknown;
  name?: string;
  groups?: readonly string[];
  amr?: string[];
  acr?: string;
}

/** Changes to an ID token; undefined removes a claim. */
interface Change {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  readonly byStranger?: true;
}

const PAGE_TIMES = 10;
const pair = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const KEY_ID = "test-key";
const STORED = ["AccessToken", "AuthorizationCode", "Grant", "IdToken", "Interaction", "Session"];
const STORED_SECONDS = 3_600;

export class OidcIssuer implements AsyncDisposable {
  somebody: Somebody = { sub: "sub-1", email: "ops@example.com", email_verified: true };
  /** Applied to each ID token, which is then signed again, unless it names no algorithm. */
  change: Change | null = null;
  /** If set, answers every request with this status, as a broken provider does. */
  brokenStatus: number | null = null;

  constructor(
    readonly issuer: string,
    /** The allowed return addresses of the client. */
    readonly redirectUris: string[],
    readonly close: () => Promise<void>,
  ) {}

  static async start(redirectUris: readonly string[] = []): Promise<OidcIssuer> {
    const server = createServer();
    const listening = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const started = new OidcIssuer(`${url}/`, [...redirectUris], async () => {
      server.closeAllConnections();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    });
    const provider = providerOf(url, started);
    server.on("request", provider.callback());
    return started;
  }

  /**
   * Opens the provider's page as a browser does, and returns the query of the address that the
   * provider sends the browser back to.
   */
  async signIn(address: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = address;
    for (let page = 0; page < PAGE_TIMES; page += 1) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, { redirect: "manual", headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${response.status} ${await response.text()}`);
      url = new URL(location, url).href;
      if (!url.startsWith(this.issuer)) return new URL(url).search;
    }
    throw new Error(`The provider redirects without end, last to ${url}`);
  }

  /** Returns the token with the change of the test. */
  rewritten(token: string): string {
    if (this.change === null) return token;
    const { header = {}, claims = {}, byStranger = false } = this.change;
    const [oldHeader = "", oldClaims = ""] = token.split(".");
    const merged = (part: string, change: object): Record<string, unknown> => ({
      ...JSON.parse(Buffer.from(part, "base64url").toString()),
      ...change,
    });
    const write = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const newHeader = merged(oldHeader, header);
    const body = `${write(newHeader)}.${write(merged(oldClaims, claims))}`;
    if (newHeader.alg === "none") return `${body}.`;
    const { privateKey } = byStranger ? stranger : pair;
    return `${body}.${sign("sha256", Buffer.from(body), privateKey).toString("base64url")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function providerOf(url: string, started: OidcIssuer): InstanceType<typeof Provider> {
  const jwk = { ...pair.privateKey.export({ format: "jwk" }), kid: KEY_ID, use: "sig" };
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${url}/nowhere`],
      },
    ],
    adapter: oidcStorage(),
    jwks: { keys: [{ ...jwk, alg: "RS256" }] },
    // Names each kind, because the provider prints a notice for an unnamed kind.
    ttl: Object.fromEntries(STORED.map((kind) => [kind, STORED_SECONDS])),
    scopes: ["openid", "groups"],
    claims: {
      openid: ["sub", "acr", "amr", "auth_time"],
      email: ["email", "email_verified"],
      profile: ["name"],
      groups: ["groups"],
    },
    acrValues: ["gold"],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ ...started.somebody, sub: id }),
    }),
    loadExistingGrant: async (ctx) => {
      const { client, session } = ctx.oidc;
      const grant = new provider.Grant({
        clientId: client?.clientId ?? "",
        accountId: session?.accountId ?? "",
      });
      grant.addOIDCScope("openid email profile groups");
      await grant.save();
      return grant;
    },
  });
  // The product's address is known only after the product got the address of this provider.
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    started.redirectUris.includes(uri);
  provider.use(async (ctx, next) => {
    if (started.brokenStatus !== null) {
      ctx.status = started.brokenStatus;
      return;
    }
    if (ctx.path.startsWith("/interaction/")) {
      const { sub: accountId, amr, acr } = started.somebody;
      const login = { accountId, ...(amr && { amr }), ...(acr && { acr }), remember: false };
      return await provider.interactionFinished(ctx.req, ctx.res, { login });
    }
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== "/token" || body?.id_token === undefined) return;
    ctx.body = { ...body, id_token: started.rewritten(body.id_token) };
  });
  return provider;
}
