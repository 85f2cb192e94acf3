// The versions of the configuration that all processes share.

import { before, list, reply, time } from "../http/console/fields.ts";
import { type Checked, nullable, Type, text } from "../http/schema.ts";
import { ASK } from "./action-schema.ts";

const CLOSED = { additionalProperties: false } as const;
const VERSION_MAX = 999_999_999;

const VERSION = {
  version: Type.Integer({ minimum: 1 }),
  at: time("When it was applied"),
  actor: text({ description: "An operator's e-mail address, or `command line`" }),
  note: nullable(text({ description: "Why" })),
  rolls_back_to: nullable(
    Type.Integer({ description: "The version whose text it repeats; null if it is no rollback" }),
  ),
  changes: list(text({ description: "What it changed in the one before" })),
};

export const ConfigurationsQuery = Type.Object({ before }, CLOSED);

export const Configurations = reply({
  in_force: nullable(Type.Integer({ description: "Null if each process reads its own file" })),
  running: Type.Integer({ description: "What the process runs that answers; 0 for its own file" }),
  refused: nullable(text({ description: "Why that process does not run what is in force" })),
  versions: list(Type.Object(VERSION)),
  next: nullable(text()),
});
export type ConfigurationsReply = Checked<typeof Configurations>;

export const Configuration = reply({
  ...VERSION,
  text: text({ description: "The file as it was given" }),
});
export type ConfigurationReply = Checked<typeof Configuration>;

export const RollbackBody = Type.Object(
  {
    ...ASK,
    version: Type.Integer({
      minimum: 1,
      maximum: VERSION_MAX,
      description: "The version whose text is put in force again",
    }),
  },
  CLOSED,
);

const VERSION_EXAMPLE: ConfigurationsReply["versions"][number] = {
  version: 3,
  at: "2026-11-22T13:00:00.000Z",
  actor: "command line",
  note: "New prices",
  rolls_back_to: null,
  changes: ["model small: $1 in, $2 out -> $1.5 in, $2 out"],
};

export const CONFIGURATIONS_EXAMPLE: ConfigurationsReply = {
  in_force: 3,
  running: 3,
  refused: null,
  versions: [VERSION_EXAMPLE],
  next: null,
};

export const CONFIGURATION_EXAMPLE: ConfigurationReply = {
  ...VERSION_EXAMPLE,
  text: '{ "providers": {}, "models": [] }',
};
