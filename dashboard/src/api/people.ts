// Changes accounts and their members.

import type { SessionsReply } from "../../../src/console/people/people-schema.ts";
import type { Role } from "../../../src/core/access/roles.ts";
import type { Language } from "../../../src/core/languages.ts";
import type { MailedReply } from "./auth.ts";
import { get, post } from "./client.ts";
import { ACCOUNTS, ME, ofAccount } from "./queries.ts";

export async function acceptInvitation(token: string): Promise<{ readonly account: string }> {
  return await post<{ account: string }>("/console/api/invitations/accept", { token });
}

export async function invite(account: string, email: string, role: Role): Promise<MailedReply> {
  return await post<MailedReply>(ofAccount(account, "invitations"), { email, role });
}

export async function withdrawInvitation(account: string, id: string): Promise<void> {
  await post(ofAccount(account, `invitations/${id}/withdraw`));
}

export async function changeRole(account: string, person: string, role: Role): Promise<void> {
  await post(ofAccount(account, `members/${person}/role`), { role });
}

export async function removeMember(account: string, person: string): Promise<void> {
  await post(ofAccount(account, `members/${person}/remove`));
}

export async function leaveAccount(account: string): Promise<void> {
  await post(ofAccount(account, "leave"));
}

export async function renameAccount(account: string, name: string): Promise<void> {
  await post(ofAccount(account, "rename"), { name });
}

/** Makes an application account beside the Gateway account. */
export async function openApplicationAccount(name: string): Promise<{ readonly id: string }> {
  return await post<{ id: string }>(ACCOUNTS, { surface: "application", name });
}

export async function closeAccount(account: string): Promise<void> {
  await post(ofAccount(account, "close"));
}

export async function changeName(name: string): Promise<void> {
  await post(`${ME}/name`, { name });
}

/** Shows pages and writes mails to this person in a language. */
export async function changeLanguage(language: Language): Promise<void> {
  await post(`${ME}/language`, { language });
}

/** A password, or a code that was mailed. */
export type Proof = { readonly password: string } | { readonly otp: string };

/** Gives a proof of identity again, before a change that needs a recent one. */
export async function prove(proof: Proof): Promise<void> {
  await post(`${ME}/prove`, proof);
}

/** Mails a link to another address; it counts once the link was used. Needs a recent proof. */
export async function askForEmail(email: string): Promise<MailedReply> {
  return await post<MailedReply>(`${ME}/email`, { email });
}

export async function confirmEmail(token: string): Promise<void> {
  await post(`${ME}/email/confirm`, { token });
}

export async function listSessions(): Promise<SessionsReply> {
  return await get<SessionsReply>(`${ME}/sessions`);
}

export async function endSession(id: string): Promise<void> {
  await post(`${ME}/sessions/${encodeURIComponent(id)}/end`);
}

export async function endOtherSessions(): Promise<void> {
  await post(`${ME}/end-other-sessions`);
}
