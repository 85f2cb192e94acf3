// Makes the table of account states for the documentation.

import {
  ACCOUNT_EVENTS,
  type AccountEvent,
  afterEvent,
  STANDINGS,
  type Standing,
  standingOfState,
} from "../../src/core/access/account-states.ts";
import { table } from "./markdown.ts";

/** One row for each state and each change out of it. */
export function accountStateTable(): string {
  const rows = (Object.keys(STANDINGS) as Standing[]).flatMap((standing) =>
    (Object.keys(ACCOUNT_EVENTS) as AccountEvent[]).flatMap((event) => {
      const after = afterEvent(STANDINGS[standing], event);
      if (after.kind === "same") return [];
      const to =
        after.kind === "changed"
          ? STANDINGS[standingOfState(after.to)].title
          : `refused: ${after.why}`;
      return [[STANDINGS[standing].title, ACCOUNT_EVENTS[event].title, to]];
    }),
  );
  return table(["the account is", "what happens", "then it is"], rows);
}
