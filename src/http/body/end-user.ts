// Reads which end user of a customer's application a call is for (docs/end-users.md). The id is
// never kept: EndUser gives out digests alone (D-947).

import {
  END_USER_CHARACTERS_MAX,
  END_USER_ID,
  END_USER_RULE,
} from "../../core/access/end-users.ts";
import type { ParameterInfo } from "../endpoint-info.ts";
import { shortText } from "../schema.ts";
import { invalidHeader } from "./checks.ts";

export const END_USER_HEADER = "x-svc-end-user";

/** For the documentation of every endpoint that costs money. */
export const END_USER_PARAMETER: ParameterInfo = {
  name: END_USER_HEADER,
  in: "header",
  required: false,
  description:
    "The end user of your application that the call is for, by an id of yours. It comes before " +
    "`safety_identifier`, `user` and `metadata.user_id` of a body. Budgets of end users count " +
    "the call; the id is kept as a keyed hash only",
  schema: shortText(END_USER_CHARACTERS_MAX, {
    pattern: END_USER_ID.source,
    must: END_USER_RULE,
    examples: ["customer-4711"],
  }),
};

/**
 * The id in a request's headers; null without one.
 * @throws ApiError `invalid_parameter`
 */
export function endUserIn(headers: Headers): string | null {
  const id = headers.get(END_USER_HEADER);
  if (id === null) return null;
  if (END_USER_ID.test(id) && id.length <= END_USER_CHARACTERS_MAX) return id;
  throw invalidHeader(END_USER_HEADER, END_USER_RULE);
}

/** The fields in which bodies of OpenAI's form name an end user. */
interface NamingFields {
  readonly safety_identifier?: string | null | undefined;
  readonly user?: string | null | undefined;
}

/** The id in a body of OpenAI's form; null without one. */
export function endUserOf({ safety_identifier: id, user }: NamingFields): string | null {
  return id || user || null;
}
