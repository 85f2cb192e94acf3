// People, their ways to sign in, their memberships of accounts, and their activity. The first five
// tables have the columns that better-auth works with.

import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { ROLES } from "../../core/access/roles.ts";
import { accounts } from "./account-schema.ts";
import { at, number } from "./columns.ts";

export const people = pgTable("people", {
  id: text("id").primaryKey(),
  /** In lower case. */
  email: text("email").notNull().unique(),
  emailVerified: boolean("email_verified").notNull().default(false),
  name: text("name").notNull(),
  image: text("image"),
  twoFactorEnabled: boolean("two_factor_enabled").notNull().default(false),
  isOperator: boolean("is_operator").notNull().default(false),
  /** The tag of the language of their pages and mails; null until the first session. */
  language: text("language"),
  /** When the first account was opened for the person; null until the first session. */
  openedAt: at("opened_at"),
  createdAt: at("created_at").notNull().defaultNow(),
  updatedAt: at("updated_at").notNull().defaultNow(),
});

export const sessions = pgTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    /** The value of the cookie, which also has a signature that is not stored. */
    token: text("token").notNull().unique(),
    userId: text("person")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    expiresAt: at("expires_at").notNull(),
    /** When a password, a code or a link was last given. */
    provedAt: at("proved_at").notNull().defaultNow(),
    /** Opened with a passkey, which is a second factor by itself. */
    byPasskey: boolean("by_passkey").notNull().default(false),
    /** Opened with a second factor, or with a link that an operator made. */
    strong: boolean("strong").notNull().default(false),
    /** The provider of single sign-on that it began at. */
    ssoIssuer: text("sso_issuer"),
    /** The group there by which it is an operator's. */
    ssoGroup: text("sso_group"),
    /** True if the provider says that a second factor was used. */
    ssoFactor: boolean("sso_factor").notNull().default(false),
    userAgent: text("user_agent"),
    country: text("country"),
    ipAddress: text("ip_address"),
    createdAt: at("created_at").notNull().defaultNow(),
    updatedAt: at("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("sessions_person").on(table.userId),
    index("sessions_expires_at").on(table.expiresAt),
    // Addresses are never stored as they are; better-auth has a column for them.
    check("sessions_ip_address", sql`${table.ipAddress} IS NULL OR ${table.ipAddress} = ''`),
  ],
);

/** Passwords, as scrypt hashes, and whom providers of single sign-on mean by a subject. */
export const personCredentials = pgTable(
  "person_credentials",
  {
    id: text("id").primaryKey(),
    userId: text("person")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    providerId: text("provider").notNull(),
    accountId: text("provider_account").notNull(),
    password: text("password"),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: at("access_token_expires_at"),
    refreshTokenExpiresAt: at("refresh_token_expires_at"),
    scope: text("scope"),
    createdAt: at("created_at").notNull().defaultNow(),
    updatedAt: at("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("person_credentials_provider").on(table.userId, table.providerId),
    uniqueIndex("person_credentials_account").on(table.providerId, table.accountId),
  ],
);

/** Codes and links that were sent, and their purposes; identifiers are hashes. */
export const verifications = pgTable(
  "verifications",
  {
    id: text("id").primaryKey(),
    identifier: text("identifier").notNull(),
    value: text("value").notNull(),
    expiresAt: at("expires_at").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    updatedAt: at("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("verifications_identifier").on(table.identifier),
    index("verifications_expires_at").on(table.expiresAt),
    // By the person whose id it is; other values are long, and of these a hash is enough.
    index("verifications_value").using("hash", table.value),
  ],
);

/** The second factor of a person, encrypted. */
export const twoFactors = pgTable(
  "two_factors",
  {
    id: text("id").primaryKey(),
    userId: text("person")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    secret: text("secret").notNull(),
    backupCodes: text("backup_codes").notNull(),
    verified: boolean("verified").notNull().default(true),
    failedVerificationCount: integer("failed_verification_count").notNull().default(0),
    lockedUntil: at("locked_until"),
  },
  (table) => [uniqueIndex("two_factors_person").on(table.userId)],
);

/** Keys that stay in a person's device; only their public halves are here. */
export const passkeys = pgTable(
  "passkeys",
  {
    id: text("id").primaryKey(),
    person: text("person")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** The id by which the device knows the passkey: base64url, as browsers send it. */
    credential: text("credential").notNull().unique(),
    publicKey: text("public_key").notNull(),
    /** The number of uses by the device, if the device counts. */
    counter: bigint("counter", { mode: "number" }).notNull(),
    /** The ways to reach the device, such as `usb`, with commas between. */
    transports: text("transports").notNull(),
    createdAt: at("created_at").notNull(),
    usedAt: at("used_at"),
  },
  (table) => [index("passkeys_person").on(table.person)],
);

/** The number of attempts in the current window, such as to sign in from one address. */
export const attempts = pgTable(
  "attempts",
  {
    /** The action that is counted, and a hash of the person or address that it is counted for. */
    key: text("key").primaryKey(),
    count: integer("count").notNull(),
    endsAt: at("ends_at").notNull(),
  },
  (table) => [index("attempts_ends_at").on(table.endsAt)],
);

/** The members of accounts. */
export const memberships = pgTable(
  "memberships",
  {
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    person: text("person")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    role: text("role", { enum: ROLES }).notNull(),
    joinedAt: at("joined_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.person] }),
    index("memberships_person").on(table.person),
  ],
);

export const invitations = pgTable(
  "invitations",
  {
    id: text("id").primaryKey(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    email: text("email").notNull(),
    role: text("role", { enum: ROLES }).notNull(),
    /** The address of the person who invited. */
    invitedBy: text("invited_by").notNull(),
    tokenHash: text("token_hash").notNull().unique(),
    expiresAt: at("expires_at").notNull(),
    /** When the invitation was accepted or withdrawn. */
    endedAt: at("ended_at"),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("invitations_open").on(table.account, table.email).where(sql`ended_at IS NULL`),
  ],
);

/** Inboxes, networks and devices that have had free credit by sign-up, as keyed hashes. */
export const signUpGrants = pgTable(
  "sign_up_grants",
  {
    kind: text("kind", { enum: ["inbox", "network", "device"] }).notNull(),
    hash: text("hash").notNull(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.hash] })],
);

/** The activity of people in an account, written in the transaction of each change. */
export const activity = pgTable(
  "activity",
  {
    number: bigint("number", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    at: at("at").notNull(),
    /** A person's address at that time, `operator` or `system`. */
    actor: text("actor").notNull(),
    person: text("person"),
    action: text("action").notNull(),
    about: text("about").notNull(),
    country: text("country"),
    ipHash: text("ip_hash"),
  },
  (table) => [index("activity_account").on(table.account, table.number)],
);
