// Adds and checks passkeys: keys in a person's device, unlocked there by a fingerprint, a face or a
// PIN. A device signs a challenge that works once, for five minutes, and only for this console.

import { isIP } from "node:net";
import type { ReadBrand } from "../core/brand/brand.ts";
import { ConsoleError } from "../core/console-errors.ts";
import { newToken } from "../core/console-tokens.ts";
import { newId, type RandomBytes } from "../core/ids.ts";
import { PasskeyStore } from "../store/people/passkeys.ts";
import type { Database } from "../store/servers/database.ts";
import type { Transaction } from "../store/servers/transaction.ts";
import type { NewPasskeyResponse, SignInResponse } from "./passkey-schema.ts";

/**
 * The origin of the requesting page; the frame has checked it. Only auth-endpoints.ts sets this.
 */
export const ORIGIN_HEADER = "x-farebox-origin";

export const PASSKEYS_MAX = 20;
const CHALLENGE_MS = 5 * 60_000;

/** Stores challenges that wait; better-auth stores only hashes of their names. */
export interface Challenges {
  createVerificationValue(row: {
    identifier: string;
    value: string;
    expiresAt: Date;
  }): Promise<unknown>;
  /** Takes the row; null if it was used or has ended. */
  consumeVerificationValue(identifier: string): Promise<unknown>;
}

export interface PasskeyOwner {
  readonly personId: string;
  readonly email: string;
}

/** The passkey that a device signed with, and its owner. */
export interface PasskeyUse {
  readonly passkeyId: string;
  readonly personId: string;
  /** The number of uses that the device reports. */
  readonly counter: number;
}

interface PasskeysDeps {
  readonly database: Database;
  readonly random: RandomBytes;
  readonly now: () => number;
  /** The device's dialogs show its name. */
  readonly brand: ReadBrand;
}

/** Loading takes 24 MB and a fifth of a second, which only consoles with passkeys spend. */
const webAuthn = async () => await import("@simplewebauthn/server");

export class Passkeys {
  readonly store: PasskeyStore;

  constructor(readonly deps: PasskeysDeps) {
    this.store = new PasskeyStore(deps.database);
  }

  /**
   * Returns the challenge to sign in with; the device offers the passkeys that it has for this
   * console.
   */
  async beginSignIn(challenges: Challenges, origin: string): Promise<object> {
    const rpID = hostOf(origin);
    const challenge = await this.#challenge(challenges, "sign-in");
    const { generateAuthenticationOptions } = await webAuthn();
    return await generateAuthenticationOptions({
      rpID,
      challenge,
      timeout: CHALLENGE_MS,
      userVerification: "required",
    });
  }

  /** Returns the passkey that signed, and its owner; null if the answer signs in no person. */
  async signIn(
    challenges: Challenges,
    { origin, response }: { readonly origin: string; readonly response: SignInResponse },
  ): Promise<PasskeyUse | null> {
    const rpID = hostOf(origin);
    const challenge = await this.#redeem(challenges, "sign-in", response);
    const passkey = await this.store.findByCredential(response.id);
    if (challenge === null || passkey === null) return null;
    const { verifyAuthenticationResponse } = await webAuthn();
    const checked = await orNull(
      verifyAuthenticationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpID,
        requireUserVerification: true,
        credential: {
          id: passkey.credential,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
          counter: passkey.counter,
        },
      }),
    );
    if (checked?.verified !== true) return null;
    const { newCounter } = checked.authenticationInfo;
    return { passkeyId: passkey.id, personId: passkey.person, counter: newCounter };
  }

  /** Notes the use of a passkey. False if the passkey was removed meanwhile. */
  async noteUse({ passkeyId, counter }: PasskeyUse): Promise<boolean> {
    return await this.store.markUsed(passkeyId, counter, new Date(this.deps.now()));
  }

  /** Returns the challenge for making a passkey of this person. */
  async beginAdding(
    challenges: Challenges,
    { personId, email }: PasskeyOwner,
    origin: string,
  ): Promise<object> {
    const rpID = hostOf(origin);
    const challenge = await this.#challenge(challenges, `add ${personId}`);
    const known = await this.store.list(personId);
    const { generateRegistrationOptions } = await webAuthn();
    return await generateRegistrationOptions({
      rpID,
      challenge,
      rpName: this.deps.brand().name,
      timeout: CHALLENGE_MS,
      userName: email,
      userDisplayName: email,
      attestationType: "none",
      userID: new TextEncoder().encode(personId),
      excludeCredentials: known.map(({ credential, transports }) => ({
        id: credential,
        transports: transports.split(",").filter(Boolean),
      })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
  }

  /** Stores a passkey that a device has made. @throws ConsoleError if the answer is not valid */
  async add(
    challenges: Challenges,
    { personId }: PasskeyOwner,
    given: {
      readonly origin: string;
      readonly name: string;
      readonly response: NewPasskeyResponse;
      /** Runs in the transaction, and can undo it. */
      readonly also: (tx: Transaction) => Promise<void>;
    },
  ): Promise<string> {
    const { origin, name, response, also } = given;
    const { random, now } = this.deps;
    const rpID = hostOf(origin);
    const challenge = await this.#redeem(challenges, `add ${personId}`, response);
    if (challenge === null) throw notValid();
    const { verifyRegistrationResponse } = await webAuthn();
    const checked = await orNull(
      verifyRegistrationResponse({
        response: response as Parameters<typeof verifyRegistrationResponse>[0]["response"],
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpID,
        requireUserVerification: true,
      }),
    );
    if (checked?.verified !== true) throw notValid();
    const { credential } = checked.registrationInfo;
    const id = newId("passkey", random);
    const added = await this.store.add(
      {
        id,
        person: personId,
        name,
        credential: credential.id,
        counter: credential.counter,
        publicKey: Buffer.from(credential.publicKey).toString("base64url"),
        transports: (response.response.transports ?? []).join(","),
        createdAt: new Date(now()),
        usedAt: null,
      },
      { most: PASSKEYS_MAX, also },
    );
    if (added === "known") throw notValid();
    if (added === "full") {
      throw new ConsoleError("too_many_passkeys", `You have ${PASSKEYS_MAX} passkeys: remove one`);
    }
    return id;
  }

  async #challenge(challenges: Challenges, purpose: string): Promise<Uint8Array<ArrayBuffer>> {
    const token = newToken(this.deps.random);
    await challenges.createVerificationValue({
      identifier: challengeName(purpose, token),
      value: purpose,
      expiresAt: new Date(this.deps.now() + CHALLENGE_MS),
    });
    return new Uint8Array(Buffer.from(token, "base64url"));
  }

  /** Uses up the challenge that an answer was made for. Null if there is no such challenge. */
  async #redeem(
    challenges: Challenges,
    purpose: string,
    { response }: { readonly response: { readonly clientDataJSON: string } },
  ): Promise<string | null> {
    const challenge = challengeIn(response.clientDataJSON);
    if (challenge === null) return null;
    const row = await challenges.consumeVerificationValue(challengeName(purpose, challenge));
    return row === null ? null : challenge;
  }
}

function challengeName(purpose: string, challenge: string): string {
  return `passkey:${purpose}:${challenge}`;
}

function challengeIn(clientDataJSON: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString());
    const isFit = typeof data === "object" && data !== null && "challenge" in data;
    return isFit && typeof data.challenge === "string" ? data.challenge : null;
  } catch {
    return null;
  }
}

/**
 * Returns null for an answer that the library refuses: it throws only because of the device's
 * answer.
 */
async function orNull<T>(check: Promise<T>): Promise<T | null> {
  return await check.catch(() => null);
}

/** Returns the host that passkeys are bound to. @throws ConsoleError if it is an IP address */
function hostOf(origin: string): string {
  const { hostname } = new URL(origin);
  if (isIP(hostname) === 0 && !hostname.startsWith("[")) return hostname;
  throw new ConsoleError(
    "passkeys_unavailable",
    `Passkeys need a host name, and this console is opened as ${hostname}`,
  );
}

function notValid(): ConsoleError {
  return new ConsoleError(
    "passkey_not_valid",
    "The answer of the device was used, has ended, or is not for this console",
  );
}
