// Tests every state of an account against every event.

import { expect, test } from "bun:test";
import {
  ACCOUNT_EVENTS,
  type AccountEvent,
  afterEvent,
  STANDINGS,
  type Standing,
  standingOfState,
  statesChangedBy,
} from "../../../../src/core/access/account-states.ts";

const STATES = Object.keys(STANDINGS) as Standing[];
const EVENTS = Object.keys(ACCOUNT_EVENTS) as AccountEvent[];

/** The state after an event; the same state if the event changes nothing or is refused. */
function next(standing: Standing, event: AccountEvent): Standing {
  const after = afterEvent(STANDINGS[standing], event);
  return after.kind === "changed" ? standingOfState(after.to) : standing;
}

test("a stored state is read as the same state", () => {
  for (const name of STATES) expect(standingOfState(STANDINGS[name])).toBe(name);
});

test("an event that happens again changes nothing more", () => {
  for (const standing of STATES) {
    for (const event of EVENTS) {
      const once = next(standing, event);
      // A dispute that is still open suspends again, even after an operator lifted the suspension.
      if (event === "resumeWhileDisputed") continue;
      expect([standing, event, next(once, event)]).toEqual([standing, event, once]);
    }
  }
});

test("no event reopens a closed account, and every operator event on it is refused", () => {
  for (const event of EVENTS) expect(next("closed", event)).toBe("closed");
  for (const event of ["suspend", "resume", "resumeWhileDisputed"] as const) {
    expect(afterEvent(STANDINGS.closed, event)).toMatchObject({ kind: "refused" });
  }
});

test("SPEC 3.1: a dispute suspends, its decision ends that, and only that, suspension", () => {
  expect(next("active", "disputeOpened")).toBe("disputed");
  expect(next("disputed", "disputesDecided")).toBe("active");
  for (const standing of ["stopped", "negative", "closed"] as const) {
    expect(next(standing, "disputeOpened")).toBe(standing);
    expect(next(standing, "disputesDecided")).toBe(standing);
  }
});

test("SPEC 3.1: a dispute is over before an operator can resume the account", () => {
  for (const event of ["resume", "resumeWhileDisputed"] as const) {
    expect(afterEvent(STANDINGS.disputed, event)).toMatchObject({ kind: "refused" });
  }
  expect(next("stopped", "resumeWhileDisputed")).toBe("disputed");
  expect(next("stopped", "resume")).toBe("active");
});

test("SPEC 3.1: a balance below zero suspends; only an operator ends that", () => {
  expect(statesChangedBy("balanceBelowZero").map(standingOfState)).toEqual(["active", "disputed"]);
  const leaving = EVENTS.filter((event) => next("negative", event) === "active");
  expect(leaving).toEqual(["resume"]);
});

test("every state can be reached, and closing is possible from each", () => {
  const reached = new Set<Standing>(["active"]);
  for (let size = 0; size < reached.size; ) {
    size = reached.size;
    for (const standing of [...reached]) {
      for (const event of EVENTS) reached.add(next(standing, event));
    }
  }
  expect([...reached].toSorted()).toEqual(STATES.toSorted());
  for (const standing of STATES) expect(next(standing, "close")).toBe("closed");
});
