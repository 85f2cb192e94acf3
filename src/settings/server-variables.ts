// Joins all environment variables of the API and the workers in one table.

import { CONSOLE_VARIABLES } from "./console-variables.ts";
import { PAYMENT_VARIABLES } from "./payment-variables.ts";
import { SSO_VARIABLES } from "./sso-variables.ts";
import { TRACE_VARIABLES } from "./trace-variables.ts";
import { MAIL_VARIABLES, SERVER_VARIABLES, STORE_VARIABLES } from "./variables.ts";

export const ALL_VARIABLES = {
  ...STORE_VARIABLES,
  ...SERVER_VARIABLES,
  ...MAIL_VARIABLES,
  ...PAYMENT_VARIABLES,
  ...CONSOLE_VARIABLES,
  ...SSO_VARIABLES,
  ...TRACE_VARIABLES,
} as const;
