// The audit as a job: asked for here, run by a worker, read here with its progress and result.

import { findAccount } from "../accounts/administration.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { queryOf } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import type { Checked } from "../http/schema.ts";
import { byNumber, readPage } from "../readings/list-reading.ts";
import { timeText } from "../readings/reading.ts";
import { type AuditRun, AuditRuns } from "../store/audit/audit-runs.ts";
import { actOutside } from "./act.ts";
import { ACTION_EXAMPLE, Action, ASK_EXAMPLE } from "./action-schema.ts";
import {
  AUDITS_EXAMPLE,
  AuditBody,
  type AuditReportJson,
  Audits,
  AuditsQuery,
  type AuditsReply,
} from "./audits-schema.ts";
import { BODY_BYTES_MAX, type Context, OPERATOR_PATH } from "./deps.ts";

const PATH = `${OPERATOR_PATH}/audits`;
const KEYSET = byNumber<AuditRun>("number");

const audits = operatorEndpoint({
  id: "listAudits",
  method: "GET",
  path: PATH,
  summary: "List audits that were asked for, with their progress and result",
  query: queryOf(AuditsQuery),
  reply: Audits,
  examples: [{ summary: "A clean one", reply: AUDITS_EXAMPLE }],
  async run({ deps }: Context, { before }) {
    const runs = new AuditRuns(deps.reading.database);
    const { rows, next } = await readPage(KEYSET, before, (page) =>
      runs.list(page.before, page.count),
    );
    return { runs: rows.map(runJson), next } satisfies AuditsReply;
  },
});

function runJson(run: AuditRun): AuditsReply["runs"][number] {
  const { id, accountId, actor, state, done, total, failure } = run;
  return {
    id,
    account: accountId,
    actor,
    state,
    done,
    total,
    failure,
    created_at: timeText(run.createdAt),
    ended_at: run.endedAt === null ? null : timeText(run.endedAt),
    // Only workers write it, by accounts/audit-json.ts.
    report: run.report as AuditReportJson | null,
  };
}

const audit = operatorEndpoint({
  id: "startAudit",
  method: "POST",
  path: PATH,
  summary: "Have a worker audit one account, or all",
  body: jsonBody(AuditBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Action,
  examples: [{ summary: "All accounts", body: ASK_EXAMPLE, reply: ACTION_EXAMPLE }],
  async run(context: Context, input: Checked<typeof AuditBody>) {
    const { deps, person } = context;
    const account =
      input.account == null ? null : await findAccount(deps.administration, input.account);
    const about = account === null ? "audit of all accounts" : "audit of the account";
    const number = account?.number ?? null;
    const deed = { action: "audit", account: number, subject: null, about };
    return await actOutside(context, deed, input, async () => {
      const { id } = input;
      const createdAt = new Date(deps.clock.now());
      const run = { id, account: number, actor: person.email, createdAt };
      await new AuditRuns(deps.reading.database).add(run);
      return null;
    });
  },
});

export const AUDIT_ENDPOINTS = [audits, audit] as const;
