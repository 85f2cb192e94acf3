import { type FirstLayoutReport, upgradeFirstLayout } from "../../actors/first-layout.ts";
import { EarlierReleaseRuns, raiseLayouts } from "../../actors/layout-upgrade.ts";
import { LAYOUT_MAX } from "../../actors/layouts.ts";
import { AdministrationError } from "../core/errors.ts";
import { FirstLayoutRepository } from "../store/first-layout.ts";
import { Ledger } from "../store/ledger.ts";
import { fillMargins, repairMargins } from "../store/margin-repair.ts";
import { checkBeginning, migrate } from "../store/migrate.ts";
import { checkRedis } from "../store/redis-check.ts";
import { fillUsage, repairUsage } from "../store/usage-repair.ts";
import { WalletRepository } from "../store/wallet-repository.ts";
import type { Command } from "./command.ts";
import type { Stores } from "./stores.ts";

/**
 * Upgrades Postgres and Redis to this release. Running it again changes nothing.
 * @throws StartError if they are none that a process would run on: then nothing was changed
 */
export async function migrateStores(
  stores: Pick<Stores, "database" | "databaseUrl" | "actors" | "warn">,
): Promise<FirstLayoutReport> {
  const { database, databaseUrl, actors, warn } = stores;
  await checkRedis(actors.deps.redis);
  await checkBeginning(database);
  await migrate(databaseUrl);
  const report = await upgradeFirstLayout({
    redis: actors.deps.redis,
    firstLayout: new FirstLayoutRepository(database),
    repository: new WalletRepository(database),
    ledger: new Ledger(database),
    warn,
  });
  await fillUsage(database);
  await fillMargins(database);
  return report;
}

function upgradeText({ buckets, entries, mailHolds }: FirstLayoutReport): string {
  if (buckets === 0) return "Postgres and Redis are ready for this release.";
  return (
    `Redis was upgraded to this release: ${buckets} buckets rebuilt, ${entries} journal entries ` +
    `moved to Postgres, ${mailHolds} holds of queued mail kept.`
  );
}

async function finish({ actors, database }: Stores): Promise<number> {
  try {
    const raised = await raiseLayouts(actors.deps.redis);
    // An earlier release may have written to the log until now, and knew of no sums.
    await repairUsage(database, null);
    await repairMargins(database);
    return raised;
  } catch (error) {
    if (!(error instanceof EarlierReleaseRuns)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}

export const migrateCommands: readonly Command[] = [
  {
    name: "migrate",
    comparesSecrets: false,
    positionals: [],
    summary: "Upgrade Postgres and Redis to this release: run it before its first process starts",
    options: {
      finish: {
        value: null,
        help: "use the newest layout in Redis, when only processes of this release run",
      },
    },
    prepare({ values }) {
      const isFinish = values.has("finish");
      return async (stores) => {
        const report = await migrateStores(stores);
        const raised = isFinish ? await finish(stores) : 0;
        const layout = isFinish ? ` All buckets use layout ${LAYOUT_MAX}.` : "";
        return {
          json: {
            buckets_rebuilt: report.buckets,
            entries_moved: report.entries,
            mail_holds_kept: report.mailHolds,
            ...(isFinish && { layout: LAYOUT_MAX, buckets_raised: raised }),
          },
          text: `${upgradeText(report)}${layout}`,
        };
      };
    },
  },
];
