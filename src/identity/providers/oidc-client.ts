// Signs people in at an OpenID Connect provider, by the authorization code flow with PKCE.
// `openid-client` checks state, nonce, issuer, audience, expiry and signature of the provider's
// answer.

import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type IDToken,
  type ServerMetadata,
} from "openid-client";

export interface OidcClientConfig {
  /** The issuer's address. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The secrets of a sign-in that has begun; only this side knows them. */
export interface OidcSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE. */
  readonly verifier: string;
}

export interface OidcQuestion extends OidcSecrets {
  readonly redirectUri: string;
  /** The `acr` to ask for; null to ask for none. */
  readonly acr: string | null;
}

/** The provider's claims about the person who signed in, unchecked. */
export interface OidcClaims {
  readonly subject: string;
  readonly email: unknown;
  readonly emailVerified: unknown;
  readonly name: unknown;
  readonly groups: unknown;
  readonly amr: unknown;
  readonly acr: unknown;
  /** The time of the person's last sign-in at the provider, in seconds; optional. */
  readonly authTime: unknown;
}

/** The provider cannot be reached, or does not work as its own metadata says. */
export class OidcUnavailable extends Error {
  override readonly name = "OidcUnavailable";
}

/** The returned answer is not a valid sign-in. The message names the rule, and never a token. */
export class OidcRefused extends Error {
  override readonly name = "OidcRefused";
}

const ANSWER_MS = 10_000;
const MIB = 1024 * 1024;
const SERVER_FAULT = 500;
const CODE = /^[a-z_]{1,40}$/;
/** A discovery document is used for this long. */
const METADATA_MS = 60 * 60_000;
const PROFILE_CLAIMS = ["email", "email_verified", "name", "groups"];

export class OidcClient {
  #known: { readonly provider: Configuration; readonly untilMs: number } | null = null;

  constructor(
    readonly config: OidcClientConfig,
    readonly now: () => number,
    /** The time limit for each answer of the provider. */
    readonly answerMs = ANSWER_MS,
  ) {}

  /** Returns the address of the provider's sign-in page. @throws OidcUnavailable */
  async begin({ redirectUri, acr, state, nonce, verifier }: OidcQuestion): Promise<string> {
    const provider = await this.#provider();
    const { scopes_supported: scopes = [] } = provider.serverMetadata();
    const hasGroups = scopes.includes("groups");
    const url = buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: `openid email profile${hasGroups ? " groups" : ""}`,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(acr !== null && { acr_values: acr }),
    });
    return url.href;
  }

  /**
   * Redeems the answer that the provider sent the browser back with. `returned` is the redirect
   * address with its query.
   * @throws OidcUnavailable, OidcRefused
   */
  async finish(returned: URL, { state, nonce, verifier }: OidcSecrets): Promise<OidcClaims> {
    const provider = await this.#provider();
    try {
      const tokens = await authorizationCodeGrant(provider, returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new OidcRefused("there is no ID token");
      return await this.#claims(provider, claims, tokens.access_token);
    } catch (error) {
      throw exchangeError(error);
    }
  }

  /** Asks the provider for its metadata and keys. @throws OidcUnavailable if it has no metadata */
  async probe(): Promise<{ readonly problems: string[]; readonly warnings: string[] }> {
    const metadata = (await this.#discover()).serverMetadata();
    const { issuer, authorization_endpoint, token_endpoint, jwks_uri } = metadata;
    const needed = { authorization_endpoint, token_endpoint, jwks_uri };
    const missing = Object.entries(needed).flatMap(([name, value]) => (value ? [] : [name]));
    const problems = missing.map((name) => `${issuer} has no ${name} in its metadata`);
    if (jwks_uri !== undefined) problems.push(...(await keyProblems(jwks_uri, this.answerMs)));
    const { code_challenge_methods_supported: methods } = metadata;
    const warnings = methods?.includes("S256")
      ? []
      : [`${issuer} does not say that it checks PKCE (S256)`];
    return { problems, warnings };
  }

  /** Many providers leave the address and groups out of the ID token. */
  async #claims(provider: Configuration, token: IDToken, accessToken: string): Promise<OidcClaims> {
    const said: Readonly<Record<string, unknown>> = token;
    const isWhole = PROFILE_CLAIMS.every((name) => said[name] !== undefined);
    const hasMore = provider.serverMetadata().userinfo_endpoint !== undefined;
    const info: Readonly<Record<string, unknown>> =
      isWhole || !hasMore ? {} : await fetchUserInfo(provider, accessToken, token.sub);
    // The address and its verification belong together, so both are taken from one answer.
    const hasAddress = said.email !== undefined && said.email_verified !== undefined;
    const { email, email_verified: emailVerified } = hasAddress ? said : info;
    return {
      subject: token.sub,
      email,
      emailVerified,
      name: said.name ?? info.name,
      groups: said.groups ?? info.groups,
      amr: said.amr,
      acr: said.acr,
      authTime: token.auth_time,
    };
  }

  async #provider(): Promise<Configuration> {
    const nowMs = this.now();
    if (this.#known !== null && nowMs < this.#known.untilMs) return this.#known.provider;
    const provider = await this.#discover();
    this.#known = { provider, untilMs: nowMs + METADATA_MS };
    return provider;
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.config;
    const isPlain = issuer.startsWith("http:");
    let provider: Configuration;
    try {
      provider = await discovery(
        new URL(issuer),
        clientId,
        undefined,
        (...request) => authentication(request[0], clientSecret)(...request),
        {
          timeout: this.answerMs / 1_000,
          [customFetch]: ask,
          ...(isPlain && { execute: [allowInsecureRequests] }),
        },
      );
    } catch (error) {
      throw new OidcUnavailable(exchangeError(error).message, { cause: error });
    }
    // The library accepts metadata of some hosts that names another issuer, such as one of many
    // tenants: there, a stranger can have an organisation with the address of any person.
    const { issuer: named } = provider.serverMetadata();
    if (!URL.canParse(named) || new URL(named).href !== issuer) {
      throw new OidcUnavailable(`it names itself ${named}, not ${issuer}`);
    }
    // Without this option the library skips the signature, because the token came from the provider
    // itself.
    enableNonRepudiationChecks(provider);
    return provider;
  }
}

/** Sends a request to the provider and reads its whole answer. @throws OidcUnavailable */
async function ask(address: string, options: Partial<CustomFetchOptions>): Promise<Response> {
  try {
    const response = await fetch(address, options);
    const { status, headers } = response;
    const body = await bodyOf(response);
    // Some statuses must not have a body.
    return new Response(body.length === 0 ? null : body, { status, headers });
  } catch (error) {
    if (error instanceof OidcUnavailable) throw error;
    throw new OidcUnavailable(publicReason(error), { cause: error });
  }
}

async function bodyOf({ body }: Response): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.byteLength;
    if (length > MIB) throw new OidcUnavailable("the answer is larger than 1 MiB");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Returns the faults of the provider's keys. */
async function keyProblems(address: string, answerMs: number): Promise<string[]> {
  const signal = AbortSignal.timeout(answerMs);
  const response = await ask(address, { redirect: "manual", signal }).catch(() => null);
  if (response === null) return [`${address} does not answer`];
  const body: unknown = await response.json().catch(() => null);
  const hasKeys =
    body !== null &&
    typeof body === "object" &&
    "keys" in body &&
    Array.isArray(body.keys) &&
    body.keys.length > 0;
  return hasKeys ? [] : [`${address} has no keys, by which ID tokens are checked`];
}

type ClientAuthentication = ReturnType<typeof ClientSecretBasic>;

/** A provider that names no method offers `client_secret_basic`. */
function authentication(
  { token_endpoint_auth_methods_supported: methods }: ServerMetadata,
  secret: string,
): ClientAuthentication {
  const isBasic = methods === undefined || methods.includes("client_secret_basic");
  return isBasic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** Tells an answer that was wrong from an answer that never came. */
function exchangeError(error: unknown): Error {
  if (error instanceof OidcRefused) return error;
  // The library wraps errors that it does not know.
  if (error instanceof Error && error.cause instanceof OidcUnavailable) return error.cause;
  const reason = publicReason(error);
  if (error instanceof AuthorizationResponseError) return new OidcRefused(reason);
  const status = statusOf(error);
  const isAway = status !== null && status >= SERVER_FAULT;
  return isAway ? new OidcUnavailable(reason, { cause: error }) : new OidcRefused(reason);
}

/** The status of the provider's answer, if the status was the fault. */
function statusOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ("status" in error && typeof error.status === "number") return error.status;
  return error.cause instanceof Response ? error.cause.status : null;
}

/**
 * Returns the library's words, and the protocol's code of the provider's refusal; no other part of
 * the answer, which can be text of strangers or a token.
 */
function publicReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const rule = error.cause instanceof Error ? error.cause.message : "";
  const code = "error" in error && typeof error.error === "string" ? error.error : "";
  const known = CODE.test(code) ? code : "";
  return [message, rule === message ? "" : rule, known].filter(Boolean).join(": ");
}
