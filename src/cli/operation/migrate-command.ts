import {
  EarlierReleaseRuns,
  raiseLayouts,
  refuseFirstLayout,
} from "../../../actors/layout-upgrade.ts";
import { LAYOUT_MAX } from "../../../actors/records/layouts.ts";
import { AdministrationError } from "../../core/errors.ts";
import { MIGRATION_TRIES } from "../../store/servers/lock-tries.ts";
import { checkBeginning, migrate } from "../../store/servers/migrate.ts";
import { checkRedis } from "../../store/servers/redis-check.ts";
import { repairMargins } from "../../store/usage/margin-repair.ts";
import { repairUsage } from "../../store/usage/usage-repair.ts";
import type { Command } from "../command.ts";
import type { Stores } from "../stores.ts";

const WAITING =
  "A table that a migration changes is in use. The migration is tried again for three minutes, " +
  "and stops nobody meanwhile.";

/**
 * Upgrades Postgres and Redis to this release. A second run changes nothing.
 * @throws StartError if the version or a setting of a store is unsupported; nothing was changed
 * then
 */
export async function migrateStores(
  stores: Pick<Stores, "database" | "databaseUrl" | "actors"> & Partial<Pick<Stores, "warn">>,
): Promise<void> {
  const { database, databaseUrl, actors, warn } = stores;
  await checkRedis(actors.deps.redis);
  await refuseFirstLayout(actors.deps.redis);
  await checkBeginning(database);
  const onBusy = (tried: number) => {
    if (tried === 1) warn?.(WAITING);
  };
  await migrate(databaseUrl, { ...MIGRATION_TRIES, onBusy });
}

async function finish({ actors, database }: Stores): Promise<number> {
  try {
    const raised = await raiseLayouts(actors.deps.redis);
    // A process of an earlier release may have written rows of the log without today's sums until
    // now.
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
        await migrateStores(stores);
        const ready = "Postgres and Redis are ready for this release.";
        if (!isFinish) return { json: {}, text: ready };
        const raised = await finish(stores);
        return {
          json: { layout: LAYOUT_MAX, buckets_raised: raised },
          text: `${ready} All buckets use layout ${LAYOUT_MAX}.`,
        };
      };
    },
  },
];
