import { type DropDeps, dropLogBefore } from "../../workers/log-retention.ts";
import { findAccount } from "../accounts/administration.ts";
import { AdministrationError } from "../core/errors.ts";
import { isMonth, monthOf } from "../core/months.ts";
import { EXPORT_HEADINGS, exportLog } from "../store/log-export.ts";
import { LogIsBeingRead, LogUpkeep } from "../store/log-upkeep.ts";
import { RejectedEntries } from "../store/rejected-entries.ts";
import { type Command, UsageError } from "./command.ts";
import { openSink } from "./sink.ts";
import type { Stores } from "./stores.ts";
import { idOf, timeOf } from "./values.ts";

const exportCommand: Command = {
  name: "log export",
  words: ["ID"],
  summary: `Write an account's request log as CSV: ${EXPORT_HEADINGS.join(", ")}`,
  options: {
    from: { value: "ISO-TIME", help: "the first time, UTC unless it says else", required: true },
    to: { value: "ISO-TIME", help: "the time before which it ends", required: true },
    out: { value: "FILE", help: "where to write it (stdout)" },
  },
  plan(input) {
    const id = idOf(input, "account");
    const from = timeOf(input, "from") ?? new Date(0);
    const to = timeOf(input, "to") ?? new Date(0);
    if (from >= to) throw new UsageError("--from must be before --to");
    const file = input.values.get("out");
    if (file === "") throw new UsageError("--out must name a file");
    if (input.json && file === undefined) {
      throw new UsageError("--json needs --out: without it stdout is the CSV itself");
    }
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      await flushed(stores);
      const sink = await openSink(file ?? null);
      let rows = 0;
      try {
        for await (const page of exportLog(stores.database, {
          account: account.number,
          from,
          to,
        })) {
          await sink.write(page.csv);
          rows += page.rows;
        }
        await sink.finish();
      } finally {
        await sink.close();
      }
      const text = file === undefined ? null : `${rows} rows are in ${file}.`;
      return { json: { id, rows, file: file ?? null, from, to }, text };
    };
  },
};

/** What was called a moment ago may still wait in the journal. */
async function flushed({ flush, warn }: Stores): Promise<void> {
  try {
    await flush();
  } catch {
    warn("The journal could not be moved first: the newest calls may be missing.");
  }
}

const drop: Command = {
  name: "log drop",
  words: [],
  summary: "Drop the request log of all months before one; the ledger stays",
  options: {
    before: { value: "MONTH", help: "the first month that is kept, as 2026-08", required: true },
  },
  plan(input) {
    const before = input.values.get("before") ?? "";
    if (!isMonth(before)) {
      throw new UsageError(`--before must be a month such as 2026-08, but is '${before}'`);
    }
    if (before > monthOf(input.nowMs)) {
      throw new UsageError(`--before must not be after this month, ${monthOf(input.nowMs)}`);
    }
    return async ({ actors, database, flush }) => {
      const deps: DropDeps = {
        upkeep: new LogUpkeep(database),
        rejected: new RejectedEntries(database),
        redis: actors.deps.redis,
        now: () => input.nowMs,
        flush: async () => (await flush()).length,
      };
      const months = await dropped(deps, before);
      const text =
        months.length === 0
          ? `There is no log of months before ${before}.`
          : `Dropped the log of ${months.join(", ")}.`;
      return { json: { before, months }, text };
    };
  },
};

async function dropped(deps: DropDeps, before: string): Promise<readonly string[]> {
  try {
    return await dropLogBefore(deps, before);
  } catch (error) {
    if (!(error instanceof LogIsBeingRead)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}

export const logCommands: readonly Command[] = [exportCommand, drop];
