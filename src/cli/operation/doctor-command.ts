import { messageWithCause } from "../../core/text/error-message.ts";
import { isUnknownName } from "../../store/servers/sql-errors.ts";
import { storeAway } from "../../store/servers/store-away.ts";
import { platformFetch } from "../../upstream/open-fetch.ts";
import type { Command } from "../command.ts";
import { type CheckContext, type Finding, problem } from "../doctor-finding.ts";
import { table } from "../print.ts";
import { serverSettings } from "../server-settings.ts";
import type { Stores } from "../stores.ts";
import { CHECKS } from "./doctor-checks.ts";

interface Report extends Finding {
  readonly check: string;
}

export const doctorCommands: readonly Command[] = [
  {
    name: "doctor",
    comparesSecrets: false,
    positionals: [],
    summary: "Check settings, stores, clocks and upstreams: exit code 1 if something is wrong",
    options: {},
    prepare() {
      return async (stores) => {
        const reports = await examine(stores);
        const failed = reports.some(({ state }) => state === "problem");
        return { json: { ok: !failed, findings: reports }, text: reportText(reports), failed };
      };
    },
  },
];

/** Runs all checks at once. A failed check does not stop the others. */
async function examine(stores: Stores): Promise<Report[]> {
  const { now } = stores.administration;
  const context: CheckContext = {
    stores,
    config: serverSettings(stores),
    fetch: platformFetch,
    now,
  };
  const reports = await Promise.all(
    CHECKS.map(async ([check, run]) => {
      const findings = await run(context).catch((error: unknown) =>
        // An error of the configuration names the missing keys, one in each line.
        reasonOf(error)
          .split("\n")
          .map((line) => problem(line)),
      );
      return findings.map((finding) => ({ check, ...finding }));
    }),
  );
  return reports.flat();
}

function reasonOf(error: unknown): string {
  const away = storeAway(error);
  if (away !== null) return away.words;
  if (isUnknownName(error)) return "can be read after farebox migrate";
  return messageWithCause(error);
}

const MARKS = { ok: "ok", warning: "WARNING", problem: "PROBLEM" } as const;

function reportText(reports: readonly Report[]): string {
  const rows = reports.map(({ state, check, text }) => [MARKS[state], check, text]);
  const problems = reports.filter(({ state }) => state === "problem").length;
  const end = problems === 0 ? "Nothing must be mended." : `${problems} to mend.`;
  return `${table(rows)}\n\n${end}`;
}
