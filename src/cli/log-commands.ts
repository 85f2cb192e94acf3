import { findAccount } from "../accounts/administration.ts";
import { EXPORT_HEADINGS, exportLog } from "../store/log-export.ts";
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

export const logCommands: readonly Command[] = [exportCommand];
