import { DAY_MS } from "../src/core/durations.ts";
import type { PeopleStore } from "../src/store/people/people.ts";

/** An ended session stays for this long, for processes whose clocks are behind. */
const KEPT_MS = DAY_MS;

export interface EndedSessionsDeps {
  readonly people: Pick<PeopleStore, "deleteEndedSessions">;
  readonly now: () => number;
}

/**
 * Deletes ended sessions, and returns their number. A sign-in deletes the ended sessions of the
 * same person, but for a person who never comes back, the browser and country of each sign-in would
 * stay.
 */
export async function deleteEndedSessions({ people, now }: EndedSessionsDeps): Promise<number> {
  return await people.deleteEndedSessions(new Date(now() - KEPT_MS));
}
