// Lists the collections that only worker processes keep in memory from one job to the next.

import { BUCKETS } from "../../src/core/access/limits.ts";
import { MONTH_TEXTS_MAX, YEARS } from "../../src/store/ledger/prepared-entry.ts";
import { NUMBERS_MAX } from "../../src/store/ledger/row-numbers.ts";
import { REFUSED_ACCOUNTS_MAX } from "../../workers/journal-metrics.ts";
import { ATTEMPTS_MAX } from "../../workers/webhook-sender.ts";
import { number, type Remembered } from "./remembered-row.ts";

export const REMEMBERED_BY_WORKERS: readonly Remembered[] = [
  {
    holders: ["src/store/ledger/row-numbers.ts #accounts", "src/store/ledger/row-numbers.ts #keys"],
    what: "worker: numbers of accounts and of keys",
    most: `${number(NUMBERS_MAX)} each`,
    count: 2 * NUMBERS_MAX,
    bytes: 150,
    beyond: "the one used longest ago is read again",
  },
  {
    holders: ["workers/webhook-sender.ts #open"],
    what: "worker: attempts to deliver an event that are under way",
    most: number(ATTEMPTS_MAX),
    count: ATTEMPTS_MAX,
    bytes: 20_000,
    beyond: "further ones wait in Postgres",
  },
  {
    holders: ["src/http/telemetry/metrics.ts #counts"],
    what: "worker: accounts with the most refusals of content",
    most: number(REFUSED_ACCOUNTS_MAX),
    count: REFUSED_ACCOUNTS_MAX,
    bytes: 150,
    beyond: "the one with the fewest is summed up",
  },
  {
    holders: ["src/store/ledger/prepared-entry.ts monthTexts"],
    what: "worker: months of hours",
    most: number(MONTH_TEXTS_MAX),
    count: MONTH_TEXTS_MAX,
    bytes: 50,
    beyond: "the one used longest ago is made again",
  },
  {
    holders: ["src/store/usage/log-partitions.ts #known"],
    what: "worker: partitions of the request log that are there",
    most: `months from ${YEARS.from} to ${YEARS.to}`,
    count: 12 * (YEARS.to - YEARS.from + 1),
    bytes: 40,
  },
  {
    holders: ["journal-lag.ts #cursors", "journal-lag.ts #waiting", "log-flush.ts trimmed"].map(
      (name) => `workers/${name}`,
    ),
    what: "worker: buckets whose journal waits, or was trimmed",
    most: number(BUCKETS),
  },
  {
    holders: ["workers/lost-epochs.ts readOf"],
    what: "worker: buckets of an epoch that Postgres lost",
    most: number(BUCKETS),
  },
];
