// The answers of maps actions about public transport.

import { type Checked, named, nullable, oneOf, Type, text } from "../../http/schema.ts";
import { Position } from "./geo-schema.ts";
import { TRANSIT_MODES } from "./vocabulary.ts";

export const StopAnswer = named("Stop", {
  ...Position.properties,
  stop_id: text(),
  name: text(),
  distance_m: Type.Number(),
  modes: Type.Array(oneOf(TRANSIT_MODES)),
});
export type StopAnswer = Checked<typeof StopAnswer>;

export const StopTime = named(
  "StopTime",
  {
    scheduled: text(),
    expected: nullable(text()),
  },
  { description: "A time by the timetable, and as it is expected where that is known" },
);
export type StopTime = Checked<typeof StopTime>;

export const DepartureAnswer = named("Departure", {
  departure: StopTime,
  line: text(),
  mode: oneOf(TRANSIT_MODES),
  headsign: nullable(text()),
  platform: nullable(text()),
  operator: nullable(text()),
  cancelled: Type.Boolean(),
  trip_id: nullable(text()),
});
export type DepartureAnswer = Checked<typeof DepartureAnswer>;

export const LegEnd = named("LegEnd", {
  ...Position.properties,
  name: nullable(text()),
  stop_id: nullable(text()),
  platform: nullable(text()),
  time: StopTime,
});
export type LegEnd = Checked<typeof LegEnd>;

export const JourneyLeg = named("JourneyLeg", {
  mode: oneOf(TRANSIT_MODES),
  line: nullable(text()),
  headsign: nullable(text()),
  operator: nullable(text()),
  from: LegEnd,
  to: LegEnd,
  duration_s: Type.Number(),
  distance_m: nullable(Type.Number()),
  stops_between: nullable(Type.Number()),
  cancelled: Type.Boolean(),
});
export type JourneyLeg = Checked<typeof JourneyLeg>;

export const JourneyAnswer = named("Journey", {
  departure: text(),
  arrival: text(),
  duration_s: Type.Number(),
  transfers: Type.Number(),
  legs: Type.Array(JourneyLeg),
});
export type JourneyAnswer = Checked<typeof JourneyAnswer>;

export const LineAnswer = named(
  "Line",
  {
    line: text(),
    mode: oneOf(TRANSIT_MODES),
    name: nullable(text()),
    operator: nullable(text()),
    from: nullable(text()),
    to: nullable(text()),
    colour: nullable(text({ description: "`#` and six hexadecimal digits" })),
  },
  { description: "A line that serves an area" },
);
export type LineAnswer = Checked<typeof LineAnswer>;
