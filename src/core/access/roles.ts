// Defines the roles of people in an account (docs/people.md). Each role may do all that the roles
// before it may.

export const ROLES = ["viewer", "billing", "admin", "owner"] as const;

export type Role = (typeof ROLES)[number];

/** True if the role `has` may do everything that the role `needed` may. */
export function mayAct(has: Role, needed: Role): boolean {
  return ROLES.indexOf(has) >= ROLES.indexOf(needed);
}
