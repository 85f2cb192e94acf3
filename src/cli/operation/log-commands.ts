import { type DropDeps, dropLogBefore } from "../../../workers/log-retention.ts";
import { findAccount } from "../../accounts/administration.ts";
import { AdministrationError } from "../../core/errors.ts";
import { isMonth, monthText } from "../../core/money/months.ts";
import { counted } from "../../core/text/counted.ts";
import { RejectedEntries } from "../../store/ledger/rejected-entries.ts";
import { exportLog, OPERATOR_HEADINGS } from "../../store/usage/log-export.ts";
import { LogIsBeingRead, LogUpkeep } from "../../store/usage/log-upkeep.ts";
import { type Command, UsageError } from "../command.ts";
import { OUT, outFileOf, writeCsv } from "../sink.ts";
import type { Stores } from "../stores.ts";
import { idOf, timeOf } from "../values.ts";

const exportCommand: Command = {
  name: "log export",
  positionals: ["ID"],
  summary: `Write an account's request log as CSV: ${OPERATOR_HEADINGS.join(", ")}`,
  options: {
    from: { value: "ISO-TIME", help: "the start, in UTC unless it names a zone", required: true },
    to: { value: "ISO-TIME", help: "the end, which is not included", required: true },
    out: OUT,
  },
  prepare(input) {
    const id = idOf(input, "account");
    const from = timeOf(input, "from") ?? new Date(0);
    const to = timeOf(input, "to") ?? new Date(0);
    if (from >= to) throw new UsageError("--from must be before --to");
    const file = outFileOf(input);
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      await tryFlush(stores);
      const range = { account: account.number, from, to };
      const rows = await writeCsv(file, exportLog(stores.database, range));
      const text = file === null ? null : `Wrote ${counted(rows, "row")} to ${file}.`;
      return { json: { id, rows, file, from, to }, text };
    };
  },
};

/**
 * Flushes the journal, which may still have the entries of the latest calls; warns if that fails.
 */
export async function tryFlush({ flush, warn }: Stores): Promise<void> {
  try {
    await flush();
  } catch {
    warn("The journal could not be flushed first: the latest calls may be missing.");
  }
}

const drop: Command = {
  name: "log drop",
  positionals: [],
  summary: "Drop the request log of all months before a month; the ledger stays",
  options: {
    before: { value: "MONTH", help: "the first month to keep, such as 2026-08", required: true },
  },
  prepare(input) {
    const before = input.values.get("before") ?? "";
    if (!isMonth(before)) {
      throw new UsageError(`--before must be a month such as 2026-08, but is '${before}'`);
    }
    if (before > monthText(input.nowMs)) {
      throw new UsageError(`--before must not be after this month, ${monthText(input.nowMs)}`);
    }
    return async ({ actors, database, flush }) => {
      const deps: DropDeps = {
        upkeep: new LogUpkeep(database),
        rejected: new RejectedEntries(database),
        redis: actors.deps.redis,
        now: () => input.nowMs,
        flush: async () => (await flush()).length,
      };
      const months = await dropMonths(deps, before);
      const text =
        months.length === 0
          ? `There is no request log from before ${before}.`
          : `Dropped the request log of ${months.join(", ")}.`;
      return { json: { before, months }, text };
    };
  },
};

async function dropMonths(deps: DropDeps, before: string): Promise<readonly string[]> {
  try {
    return await dropLogBefore(deps, before);
  } catch (error) {
    if (!(error instanceof LogIsBeingRead)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}

export const logCommands: readonly Command[] = [exportCommand, drop];
