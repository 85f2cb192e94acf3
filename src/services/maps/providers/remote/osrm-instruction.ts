// OSRM describes a turn by a type and a direction; this file puts them into English words.

import type { Json } from "../../../../core/text/json.ts";
import { lookUp, numberOf } from "./read.ts";

const DIRECTIONS: Readonly<Record<string, string>> = {
  uturn: "around",
  "sharp right": "sharp right",
  right: "right",
  "slight right": "slightly right",
  straight: "straight",
  "slight left": "slightly left",
  left: "left",
  "sharp left": "sharp left",
};

/** The instruction of a step: the turn, and the road to turn onto. */
export function instructionOf(maneuver: Json, road: string | null): string {
  const direction = lookUp(DIRECTIONS, maneuver.modifier) ?? "straight";
  const onto = road === null ? "" : ` onto ${road}`;
  const on = road === null ? "" : ` on ${road}`;
  switch (maneuver.type) {
    case "depart":
      return `Start${on}`;
    case "arrive":
      return "You have arrived";
    case "merge":
      return `Merge ${direction}${onto}`;
    case "on ramp":
    case "off ramp":
      return `Take the ramp ${direction}${onto}`;
    case "fork":
      return `Keep ${direction} at the fork${onto}`;
    case "roundabout":
    case "rotary": {
      const exit = numberOf(maneuver.exit, 1, 30);
      const which = exit === null ? "Enter the roundabout" : `Take exit ${exit} of the roundabout`;
      return `${which}${onto}`;
    }
    case "exit roundabout":
    case "exit rotary":
      return `Leave the roundabout${onto}`;
    case "new name":
    case "notification":
      return `Continue ${direction}${onto}`;
    default: {
      const verb = direction === "straight" ? "Go" : "Turn";
      return `${verb} ${direction}${onto}`;
    }
  }
}
