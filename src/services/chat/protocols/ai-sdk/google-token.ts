// The access tokens of a Google service account (RFC 7523): a signed assertion for a token of an
// hour, one for all calls.

import { createSign } from "node:crypto";
import { OK } from "../../../../core/errors.ts";
import { isFullText, isObject } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import {
  exchange,
  parseJson,
  readText,
  unreadFailure,
} from "../../../../upstream/upstream-http.ts";
import type { ServiceAccount } from "../../models/catalogue.ts";
import type { UpstreamCall } from "../protocol.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFE_SECONDS = 3_600;
/** A token is renewed before it ends, so that no call meets its end. */
const MARGIN_MS = 5 * 60_000;
const ANSWER_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1_024;

interface Token {
  readonly value: Promise<string>;
  readonly endsMs: number;
}

const tokens = new WeakMap<ServiceAccount, Token>();

/** The value of the header `authorization`. Throws a RouteFailure if Google gives no token. */
export async function bearerOf(
  { provider, fetch }: Pick<UpstreamCall, "provider" | "fetch">,
  now: () => number,
): Promise<string> {
  const account = provider.cloud?.serviceAccount;
  if (account === undefined) throw new RouteFailure("No service account is configured");
  const known = tokens.get(account);
  if (known !== undefined && known.endsMs > now()) return `Bearer ${await known.value}`;
  const value = fetchToken(account, fetch, now());
  tokens.set(account, { value, endsMs: now() + LIFE_SECONDS * 1_000 - MARGIN_MS });
  try {
    return `Bearer ${await value}`;
  } catch (error) {
    tokens.delete(account);
    throw error;
  }
}

/** One request for all calls that wait, so it does not end with the caller of one. */
async function fetchToken(
  account: ServiceAccount,
  fetch: UpstreamCall["fetch"],
  nowMs: number,
): Promise<string> {
  const assertion = assertionOf(account, Math.floor(nowMs / 1_000));
  const body = new URLSearchParams({ grant_type: GRANT, assertion }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const limit = new TimeLimit(ANSWER_MS);
  const request = { fetch, url: account.tokenUri, method: "POST", headers, body, limit } as const;
  const text = await exchange(request, async (response) => {
    if (response.status !== OK) throw await unreadFailure(response);
    return await readText(response, ANSWER_BYTES_MAX);
  });
  const answer = parseJson(text);
  const token = isObject(answer) ? answer.access_token : null;
  if (isFullText(token)) return token;
  throw new RouteFailure("The server of tokens sent none");
}

function assertionOf(
  { clientEmail, privateKey, privateKeyId, tokenUri }: ServiceAccount,
  nowSeconds: number,
): string {
  const header = { alg: "RS256", typ: "JWT", kid: privateKeyId ?? undefined };
  const claims = { iss: clientEmail, scope: SCOPE, aud: tokenUri };
  const times = { iat: nowSeconds, exp: nowSeconds + LIFE_SECONDS };
  const signed = `${encoded(header)}.${encoded({ ...claims, ...times })}`;
  const signature = createSign("RSA-SHA256").update(signed).sign(privateKey, "base64url");
  return `${signed}.${signature}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
