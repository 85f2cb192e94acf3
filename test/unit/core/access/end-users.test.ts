// Tests that the sessions of one installation of Claude Code are one end user.

import { expect, test } from "bun:test";
import { EndUser, lastingId } from "../../../../src/core/access/end-users.ts";

const DEVICE = "5dd07c33da27e6d2968d94ea20bf47a7b090b6b158b82328d54da2909a108e84";
const ACCOUNT = "b1f0c9a2-3a14-4f0e-9d5b-6b8a1f2e7c3d";
const SESSIONS = [
  "00000000-0000-4000-8000-000000000000",
  "d2e70091-3007-41a3-a916-cb8b0d3098de",
] as const;

const text = (session: string, account: string) =>
  `user_${DEVICE}_account_${account}_session_${session}`;
const json = (session: string, account: string) =>
  JSON.stringify({ device_id: DEVICE, account_uuid: account, session_id: session });

const digestOf = (id: string) =>
  new EndUser(id, { accountId: "acct_1", secrets: ["a pepper of the test"] }).digests[0];

test.each(["", ACCOUNT])("all sessions are one end user, with the account '%s'", (account) => {
  const ids = SESSIONS.flatMap((session) => [text(session, account), json(session, account)]);
  expect(new Set(ids.map(digestOf)).size).toBe(1);
});

test("another device, or another account on it, is another end user", () => {
  const [session] = SESSIONS;
  const other = json(session, ACCOUNT).replace(DEVICE, `${DEVICE.slice(1)}0`);
  const ids = [text(session, ""), text(session, ACCOUNT), other];
  expect(new Set(ids.map(digestOf)).size).toBe(3);
});

test("a version that adds fields to the JSON names the same end user", () => {
  const more = JSON.stringify({ team: "a", ...JSON.parse(json(SESSIONS[0], ACCOUNT)), turn: 7 });
  expect(digestOf(more)).toBe(digestOf(text(SESSIONS[1], ACCOUNT)));
});

test.each([
  "customer-4711",
  "user_4711",
  "user_4711_session_2",
  "session_00000000-0000-4000-8000-000000000000",
  "{ada}",
  "{}",
  "{",
  JSON.stringify({ session_id: SESSIONS[0] }),
  JSON.stringify({ device_id: "", session_id: SESSIONS[0] }),
  JSON.stringify({ device_id: 7, session_id: SESSIONS[0] }),
  JSON.stringify({ device_id: DEVICE, account_uuid: ACCOUNT }),
])("the id %s stays as it is", (id) => {
  expect(lastingId(id)).toBe(id);
});
