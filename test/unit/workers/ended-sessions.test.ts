// Tests that ended sessions are deleted, even those of people who never return.

import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { PeopleStore } from "../../../src/store/people/people.ts";
import { deleteEndedSessions } from "../../../workers/ended-sessions.ts";
import { shared } from "../../support/shared.ts";
import { openTestDatabase } from "../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());

test("a day after its end a session is deleted, and no other", async () => {
  const { sql } = database;
  const nowMs = Date.UTC(2026, 10, 20, 12);
  await sql`INSERT INTO people (id, email, name) VALUES ('person_1', 'ada@example.org', '')`;
  const ends = [nowMs - 30 * DAY_MS, nowMs - DAY_MS - 1, nowMs - DAY_MS, nowMs - 1, nowMs + DAY_MS];
  for (const [index, end] of ends.entries()) {
    await sql`
      INSERT INTO sessions (id, token, person, expires_at, country)
      VALUES (${`session_${index}`}, ${`token_${index}`}, 'person_1',
        ${new Date(end).toISOString()}::text::timestamptz, 'DE')`;
  }
  const people = new PeopleStore(database);
  expect(await deleteEndedSessions({ people, now: () => nowMs })).toBe(2);
  const left = await sql`SELECT id FROM sessions ORDER BY id`;
  expect(left.map(({ id }) => id)).toEqual(["session_2", "session_3", "session_4"]);
  expect(await deleteEndedSessions({ people, now: () => nowMs })).toBe(0);
});
