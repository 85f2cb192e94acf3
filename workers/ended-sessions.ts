import { DAY_MS } from "../src/core/durations.ts";
import type { PeopleStore } from "../src/store/people/people.ts";

/** An ended session stays for this long, for processes whose clocks are behind. */
const KEPT_MS = DAY_MS;

export interface EndedSessionsDeps {
  readonly people: Pick<PeopleStore, "deleteEndedSessions">;
  readonly now: () => number;
}

/**
 * Deletes the sessions that have ended: those of people who come back go when they sign in, but
 * others would keep the browser and country of each sign-in. Returns how many.
 */
export async function deleteEndedSessions({ people, now }: EndedSessionsDeps): Promise<number> {
  return await people.deleteEndedSessions(new Date(now() - KEPT_MS));
}
