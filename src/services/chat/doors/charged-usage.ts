// The usage in a reply that is passed through: the counts that are charged, even where the server
// sent others, or none that can be read (D-776).

import { isObject, type Json } from "../../../core/text/json.ts";

/** True if a usage has a count that is not the charged one. A missing count is none. */
function isContradicted(given: Json, charged: Json): boolean {
  return Object.entries(charged).some(([name, count]) => {
    const other = given[name];
    if (isObject(count)) return isObject(other) && isContradicted(other, count);
    return name in given && other !== count;
  });
}

/** The usage of a server, or the charged one where the two differ. Further fields stay. */
export function chargedUsage(given: unknown, charged: Json): Json {
  if (!isObject(given)) return charged;
  return isContradicted(given, charged) ? { ...given, ...charged } : given;
}
