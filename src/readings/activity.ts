// Lists the changes that people and operators made to an account.

import { nullable, text, time } from "../core/records.ts";
import { listActivity } from "../store/accounts/activity.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";
import type { AccountSource } from "./reading.ts";

export const ActivityLine = {
  at: time({ sample: "2026-11-22T13:00:00.000Z" }),
  actor: text({
    about: "A person's e-mail address, `operator` or `system`",
    sample: "ada@example.com",
  }),
  action: text({ about: "Such as key_created", sample: "key_created" }),
  about: text({ about: "In words, such as the name of the key", sample: "production" }),
  country: nullable(text({ sample: "DE" })),
};

export const ACTIVITY = listReading({
  name: "entries",
  line: ActivityLine,
  filters: {},
  keyset: byNumber("number"),
  read: ({ reading, account }: AccountSource, _query, page) =>
    listActivity(reading.database, account.number, page),
});

export type ActivityReply = PageOf<typeof ACTIVITY>;
