// How the installation runs: what is paused, who serves, and what waits.

import { list, reply, time } from "../http/console/fields.ts";
import { type Checked, nullable, Type, text } from "../http/schema.ts";

export const Pauses = reply({
  services: list(text({ description: "A service that can be paused" })),
  paused: list(Type.Object({ target: text(), since: time("When") })),
});
export type PausesReply = Checked<typeof Pauses>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const Health = reply({
  at: time("The time of the answer"),
  process: Type.Object(
    {
      id: text(),
      version: text(),
      open_calls: count("Calls of this process that hold money now"),
      servers: list(
        Type.Object({
          service: text(),
          server: text(),
          subject: text({ description: "A model, or an action" }),
          is_passable: Type.Boolean({ description: "False while it is given up" }),
          failures: count("Failures since its last success"),
        }),
      ),
    },
    { description: "What the process sees that answered this request; others have their own view" },
  ),
  processes: list(
    Type.Object({
      id: text(),
      version: nullable(text({ description: "Null for a release that does not say" })),
      layouts: text({ description: "The layouts in Redis that it knows, such as 3 or 2-3" }),
      configuration: nullable(
        Type.Integer({
          description:
            "The version of the configuration that it runs, 0 for its own file; " +
            "null if it uses none, as workers do",
        }),
      ),
      is_this: Type.Boolean(),
    }),
  ),
  journal: Type.Object({
    entries: count("Journal entries that Postgres does not have yet"),
    behind_seconds: Type.Number({ minimum: 0, description: "How old the oldest of them is" }),
    rejected: count("Entries that Postgres refused and nobody has resolved"),
  }),
  mails: Type.Object({ waiting: count("Not sent yet"), failed: count("Given up") }),
  events: Type.Object({
    waiting: count("Events of payment providers that are not processed"),
    oldest_at: nullable(time("When the oldest of them arrived")),
  }),
  disputes_open: count("Payments whose dispute is open, or that the provider warns of"),
});
export type HealthReply = Checked<typeof Health>;

export const PAUSES_EXAMPLE: PausesReply = {
  services: ["chat", "search", "maps", "mail"],
  paused: [{ target: "search", since: "2026-11-22T13:00:00.000Z" }],
};

export const HEALTH_EXAMPLE: HealthReply = {
  at: "2026-11-22T14:03:22.000Z",
  process: {
    id: "proc_7n42DGM5Tflk9n8mt7Fhc7",
    version: "0.1.0",
    open_calls: 3,
    servers: [
      {
        service: "chat",
        server: "local",
        subject: "small",
        is_passable: true,
        failures: 0,
      },
    ],
  },
  processes: [
    {
      id: "proc_7n42DGM5Tflk9n8mt7Fhc7",
      version: "0.1.0",
      layouts: "3",
      configuration: 3,
      is_this: true,
    },
  ],
  journal: { entries: 2, behind_seconds: 0.3, rejected: 0 },
  mails: { waiting: 0, failed: 0 },
  events: { waiting: 0, oldest_at: null },
  disputes_open: 0,
};
