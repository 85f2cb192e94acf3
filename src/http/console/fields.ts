// Fields that many replies of the console share. Amounts are text, because a page's numbers cannot
// hold every amount to the last nano-dollar.

import { optional, type TProperties, type TSchema, Type, text } from "../schema.ts";

/** Exact USD as a plain decimal number in a string: "12.5", "-0.000000001". */
export function usdSchema(description: string) {
  return text({
    pattern: "^-?\\d+(\\.\\d{1,9})?$",
    must: 'must be USD in a string, such as "12.5", with at most nine decimals',
    description,
  });
}

/** The id that a page gives a change, so that the change is made once if it is asked for twice. */
export function requestId(description: string) {
  return text({
    pattern: "^[\\w-]{8,64}$",
    must: "must be an id of 8 to 64 letters, digits, - and _",
    description,
  });
}

/** A time in UTC, ISO 8601. */
export function time(description: string) {
  return text({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$", description });
}

/** The beginning of a page of a list, in a query. */
export const before = optional(text({ description: "`next` of the page before" }));

/** A reply of these fields. */
export function reply<P extends TProperties>(properties: P) {
  return Type.Object(properties);
}

export function list<S extends TSchema>(item: S) {
  return Type.Array(item);
}
