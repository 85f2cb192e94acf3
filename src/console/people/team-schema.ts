// The people of an account, invitations, and what was done by whom.

import { ROLES } from "../../core/access/roles.ts";
import { list, reply, time } from "../../http/console/fields.ts";
import { type Checked, oneOf, Type, text } from "../../http/schema.ts";

export const Team = reply({
  members: list(
    Type.Object({
      person_id: text(),
      email: text(),
      name: text(),
      role: oneOf(ROLES),
      is_you: Type.Boolean(),
      joined_at: time("When"),
    }),
  ),
  invitations: list(
    Type.Object({
      id: text(),
      email: text(),
      role: oneOf(ROLES),
      invited_by: text(),
      expires_at: time("When"),
    }),
  ),
});
export type TeamReply = Checked<typeof Team>;

export const InvitationBody = Type.Object(
  { email: text(), role: oneOf(ROLES) },
  { additionalProperties: false },
);
export const RoleBody = Type.Object({ role: oneOf(ROLES) }, { additionalProperties: false });

export const TEAM_EXAMPLE: TeamReply = {
  members: [
    {
      person_id: "person_7n42DGM5Tflk9n8mt7Fhc7",
      email: "ada@example.com",
      name: "Ada",
      role: "owner",
      is_you: true,
      joined_at: "2026-11-01T09:00:00.000Z",
    },
  ],
  invitations: [
    {
      id: "invite_7n42DGM5Tflk9n8mt7Fhc7",
      email: "bob@example.com",
      role: "viewer",
      invited_by: "ada@example.com",
      expires_at: "2026-11-29T09:00:00.000Z",
    },
  ],
};
