// Lists the people of an account, and open invitations.

import { ROLES } from "../core/access/roles.ts";
import { flag, jsonFrom, listOf, nested, text, time, type WireOf, word } from "../core/records.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { listInvitations, listMembers } from "../store/people/memberships.ts";
import type { Database } from "../store/servers/database.ts";

const Member = {
  person_id: text({ sample: "person_7n42DGM5Tflk9n8mt7Fhc7" }),
  email: text({ sample: "ada@example.com" }),
  name: text({ sample: "Ada" }),
  role: word(ROLES, { sample: "owner" }),
  is_you: flag({ sample: true }),
  joined_at: time({ sample: "2026-11-01T09:00:00.000Z" }),
};

const Invitation = {
  id: text({ sample: "invite_7n42DGM5Tflk9n8mt7Fhc7" }),
  email: text({ sample: "bob@example.com" }),
  role: word(ROLES, { sample: "viewer" }),
  invited_by: text({ sample: "ada@example.com" }),
  expires_at: time({ sample: "2026-11-29T09:00:00.000Z" }),
};

export const Team = { members: listOf(nested(Member)), invitations: listOf(nested(Invitation)) };
export type TeamReply = WireOf<typeof Team>;

const [writeMember, writeInvitation] = [jsonFrom(Member), jsonFrom(Invitation)];

/** Reads who belongs to an account; `personId` is the reader. */
export async function teamReply(
  database: Database,
  account: AccountRow,
  { now, personId }: { readonly now: Date; readonly personId: string },
): Promise<TeamReply> {
  const [members, invitations] = await Promise.all([
    listMembers(database, account),
    listInvitations(database, account, now),
  ]);
  return {
    members: members.map((one) => writeMember({ ...one, isYou: one.personId === personId })),
    invitations: invitations.map(writeInvitation),
  };
}
