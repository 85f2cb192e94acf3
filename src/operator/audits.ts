// The audit as a job: these endpoints request it, and read its progress and result. A worker runs
// it.

import { findAccount } from "../accounts/administration.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { optional, text } from "../http/schema.ts";
import { AUDITS } from "../readings/audits.ts";
import { AuditRuns } from "../store/audit/audit-runs.ts";
import { actOutside } from "./act.ts";
import { operatorAct } from "./act-endpoint.ts";
import { type Context, OPERATOR_PATH } from "./deps.ts";

const PATH = `${OPERATOR_PATH}/audits`;
const audits = operatorEndpoint({
  id: "listAudits",
  path: PATH,
  summary: "List audits that were asked for, with their progress and result",
  ...AUDITS.endpoint("A clean one"),
  run: ({ deps }: Context, input) => AUDITS.page(deps.reading.database, input),
});

const audit = operatorAct({
  id: "startAudit",
  name: "audits",
  summary: "Have a worker audit one account, or all",
  fields: { account: optional(text({ description: "All accounts if missing" })) },
  exampleSummary: "All accounts",
  async run(context, input) {
    const { deps, person } = context;
    const account =
      input.account == null ? null : await findAccount(deps.administration, input.account);
    const about = account === null ? "audit of all accounts" : "audit of the account";
    const number = account?.number ?? null;
    const deed = { ask: input, action: "audit", account: number, about };
    return await actOutside(context, deed, async () => {
      const { id } = input;
      const createdAt = new Date(deps.clock.now());
      const run = { id, account: number, actor: person.email, createdAt };
      await new AuditRuns(deps.reading.database).add(run);
      return null;
    });
  },
});

export const AUDIT_ENDPOINTS = [audits, audit] as const;
