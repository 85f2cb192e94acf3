import type { LogUpkeep } from "../src/store/usage/log-upkeep.ts";

export interface PartitionsDeps {
  readonly upkeep: Pick<LogUpkeep, "ensurePartitions">;
  readonly now: () => number;
}

const MONTHS_AHEAD = 3;

/**
 * Creates the request log's partitions for this month and the next three. The flush creates any
 * other that an entry needs.
 */
export async function makePartitions({ upkeep, now }: PartitionsDeps): Promise<void> {
  await upkeep.ensurePartitions(new Date(now()), MONTHS_AHEAD);
}
