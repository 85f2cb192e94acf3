// Lists the endpoints of operators in the order of their documentation, with its head.

import type { ConsoleEndpoint } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { consoleOpenApi } from "../http/docs/console-openapi.ts";
import type { DocumentHead } from "../http/docs/openapi-document.ts";
import { Type } from "../http/schema.ts";
import { ACCOUNT_ACTIONS } from "./account-actions.ts";
import { ACCOUNT_READINGS } from "./accounts.ts";
import { AUDIT_ENDPOINTS } from "./audits.ts";
import { CONFIGURATION_ENDPOINTS } from "./configurations.ts";
import { type Context, OPERATOR_PATH, type OperatorDeps } from "./deps.ts";
import { OPERATOR_LISTS } from "./lists.ts";
import { QUEUE_ENDPOINTS } from "./queues.ts";
import { RUNNING_ENDPOINTS } from "./running.ts";
import { VOUCHER_ENDPOINTS } from "./vouchers.ts";
import { WATCH_ENDPOINTS } from "./watch.ts";

/** The head of the OpenAPI document. */
export const OPERATOR_HEAD: DocumentHead = {
  title: "Operator API",
  description:
    "What the operators' console asks. It is for people who are operators, with a second factor, " +
    "from an allowed address; to everybody else these paths do not exist. Every change carries " +
    "an id, under which it is made once, and a reason. Amounts are decimal text, exact to the " +
    "nano-dollar.",
  tags: [{ name: "Operator", description: "For operators alone." }],
};

const ENDPOINTS: readonly ConsoleEndpoint<OperatorDeps>[] = [
  ...OPERATOR_LISTS,
  ...ACCOUNT_READINGS,
  ...WATCH_ENDPOINTS,
  ...ACCOUNT_ACTIONS,
  ...RUNNING_ENDPOINTS,
  ...CONFIGURATION_ENDPOINTS,
  ...QUEUE_ENDPOINTS,
  ...VOUCHER_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
];

const document = operatorEndpoint({
  id: "operatorDocument",
  method: "GET",
  path: `${OPERATOR_PATH}/openapi.json`,
  summary: "The OpenAPI 3.1 document of the operators' own API",
  reply: Type.Unknown(),
  examples: [],
  run: ({ deps }: Context) => {
    const { name } = deps.brand();
    return Promise.resolve(consoleOpenApi(ENDPOINTS, { name, head: OPERATOR_HEAD }));
  },
});

export const OPERATOR_ENDPOINTS: readonly ConsoleEndpoint<OperatorDeps>[] = [
  ...ENDPOINTS,
  document,
];
