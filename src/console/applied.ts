// Defines the field of a reply that is true if a change takes effect at once.

import { flag } from "../core/records.ts";

/** False in a reply as long as Redis does not have the change. */
export const APPLIED = flag({
  about: "False where Redis did not answer: the change takes effect once it does",
  sample: true,
});
