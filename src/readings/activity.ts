// What people and operators did to an account.

import { nullable, text, time } from "../core/records.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { listActivity } from "../store/accounts/activity.ts";
import type { Database } from "../store/servers/database.ts";
import { byNumber, type ListReply, listReading } from "./list-reading.ts";

export const ActivityLine = {
  at: time({ about: "When", sample: "2026-11-22T13:00:00.000Z" }),
  actor: text({
    about: "A person's e-mail address, `operator` or `system`",
    sample: "ada@example.com",
  }),
  action: text({ about: "Such as key_created", sample: "key_created" }),
  about: text({ about: "In words, such as the name of the key", sample: "production" }),
  country: nullable(text({ sample: "DE" })),
};

export type ActivityReply = ListReply<"entries", typeof ActivityLine>;

export interface ActivitySource {
  readonly database: Database;
  readonly account: AccountRow;
}

export const ACTIVITY = listReading({
  name: "entries",
  line: ActivityLine,
  filters: {},
  keyset: byNumber("number"),
  read: ({ database, account }: ActivitySource, _query, page) =>
    listActivity(database, account.number, page),
});
