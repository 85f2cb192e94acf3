// Lists the versions of the configuration that all processes share.

import { integer, jsonFrom, listOf, nullable, text, time, type WireOf } from "../core/records.ts";
import { Configurations } from "../store/operators/configurations.ts";
import type { Database } from "../store/servers/database.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";

const Version = {
  version: integer({ minimum: 1, sample: 3 }),
  at: time({ about: "When it was applied", sample: "2026-11-22T13:00:00.000Z" }),
  actor: text({ about: "An operator's e-mail address, or `command line`", sample: "command line" }),
  note: nullable(text({ about: "Why", sample: "New prices" })),
  rolls_back_to: nullable(
    integer({ about: "The version whose text it repeats; null if it is no rollback", sample: 1 }),
    { sample: null },
  ),
  changes: listOf(
    text({
      about: "What it changed in the one before",
      sample: "model small: $1 in, $2 out -> $1.5 in, $2 out",
    }),
  ),
};

/** A version with its text. */
export const Configuration = {
  ...Version,
  text: text({
    about: "The file as it was given",
    sample: '{ "providers": {}, "models": [] }',
  }),
};
export type ConfigurationReply = WireOf<typeof Configuration>;

/** The configuration that the answering process runs. */
export interface RunningConfiguration {
  /** 0 for its own file. */
  readonly version: number;
  /** The version in force, if this process refuses it. */
  readonly refused: { readonly version: number; readonly reason: string } | null;
}

export interface ConfigurationSource {
  readonly database: Database;
  readonly running: RunningConfiguration;
}

export const CONFIGURATIONS = listReading({
  name: "versions",
  line: Version,
  filters: {},
  keyset: byNumber("version"),
  head: {
    fields: {
      in_force: nullable(integer({ about: "Null if each process reads its own file", sample: 3 })),
      running: integer({
        about: "What the process runs that answers; 0 for its own file",
        sample: 3,
      }),
      refused: nullable(
        text({ about: "Why that process does not run what is in force", sample: "line 3" }),
        { sample: null },
      ),
    },
    async read({ database, running: { version, refused } }: ConfigurationSource) {
      const newest = await new Configurations(database).inForce(version);
      return {
        in_force: newest?.version ?? null,
        running: version,
        refused: refused?.reason ?? null,
      };
    },
  },
  read: ({ database }: ConfigurationSource, _query, { before, count }) =>
    new Configurations(database).list(before, count),
  toLine: jsonFrom(Version),
});

export type ConfigurationsReply = PageOf<typeof CONFIGURATIONS>;

/** @throws AdministrationError if there is no such version */
export async function configurationReply(
  database: Database,
  version: number,
): Promise<ConfigurationReply> {
  return toJson(await new Configurations(database).find(version));
}

const toJson = jsonFrom(Configuration);
