// Passkeys: signing in with one, and making and removing them. The code that talks to the device is
// loaded when it is first needed.

import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import type { PasskeysReply } from "../../../src/console/people/passkeys-schema.ts";
import { t } from "../texts.ts";
import { get, post } from "./client.ts";
import { ME } from "./queries.ts";

const SIGN_IN = "/console/auth/sign-in/passkey";
const PASSKEYS = `${ME}/passkeys`;
const ADDRESS_OF_NUMBERS = /^(\[.*\]|[\d.]+)$/;

/** True if this browser has passkeys for this page: it has none for an address of numbers. */
export function canUsePasskeys(): boolean {
  return "PublicKeyCredential" in window && !ADDRESS_OF_NUMBERS.test(window.location.hostname);
}

export async function listPasskeys(): Promise<PasskeysReply> {
  return await get<PasskeysReply>(PASSKEYS);
}

/** Signs in with a passkey that the device has for this console. */
export async function signInByPasskey(): Promise<void> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>(`${SIGN_IN}/begin`);
  const response: AuthenticationResponseJSON = await asked(startAuthentication({ optionsJSON }));
  await post(SIGN_IN, { response });
}

/** Lets the device make a passkey. Needs a recent proof. */
export async function addPasskey(name: string): Promise<void> {
  const { startRegistration } = await import("@simplewebauthn/browser");
  const { options } = await post<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    `${PASSKEYS}/begin`,
  );
  const response = await asked(startRegistration({ optionsJSON: options }));
  await post(PASSKEYS, { name, response });
}

/** Needs a recent proof. */
export async function removePasskey(id: string): Promise<void> {
  await post(`${PASSKEYS}/${id}/remove`);
}

/** Puts the refusal of a device, or of its person, into our words. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    const text = name === "InvalidStateError" ? t.people.passkeyKnown : t.people.passkeyCancelled;
    throw new Error(text, { cause: error });
  }
}
