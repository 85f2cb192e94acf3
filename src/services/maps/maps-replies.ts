// The answer of each maps action. "Nothing found" is an answer: an empty list or null.

import { capitalised } from "../../core/text/capital.ts";
import { Cost } from "../../http/reply-schema.ts";
import { type Checked, named, nullable, type TSchema, Type, text } from "../../http/schema.ts";
import { ACTIONS, type MapsAction } from "./actions.ts";
import {
  NearbyPlace,
  PlaceAnswer,
  PlaceAtAnswer,
  PoiAnswer,
  SiteImageAnswer,
  SitePicture,
  WeatherAnswer,
} from "./place-answers.ts";
import {
  ClosureAnswer,
  FuelStationAnswer,
  IncidentAnswer,
  RoadAnswer,
  RouteAnswer,
  SpeedCameraAnswer,
  TrafficRouteAnswer,
  TrafficStatusAnswer,
} from "./road-answers.ts";
import { DepartureAnswer, JourneyAnswer, LineAnswer, StopAnswer } from "./transit-answers.ts";

/** The `data` of each action's reply. */
export const DATA = {
  geocode: Type.Object({ places: Type.Array(PlaceAnswer) }),
  reverse: Type.Object({ place: nullable(NearbyPlace) }),
  place_at: PlaceAtAnswer,
  poi: Type.Object({ pois: Type.Array(PoiAnswer) }),
  stops: Type.Object({ stops: Type.Array(StopAnswer) }),
  departures: Type.Object({ departures: Type.Array(DepartureAnswer) }),
  journey: Type.Object({ journeys: Type.Array(JourneyAnswer) }),
  rail: Type.Object({ journeys: Type.Array(JourneyAnswer) }),
  transit: Type.Object({ lines: Type.Array(LineAnswer) }),
  route: Type.Object({ route: nullable(RouteAnswer) }),
  route_traffic: Type.Object({ route: nullable(TrafficRouteAnswer) }),
  road_classes: Type.Object({ roads: Type.Array(RoadAnswer) }),
  closures: Type.Object({ closures: Type.Array(ClosureAnswer) }),
  incidents: Type.Object({ incidents: Type.Array(IncidentAnswer) }),
  traffic_status: Type.Object({ traffic: nullable(TrafficStatusAnswer) }),
  speed_cameras: Type.Object({ cameras: Type.Array(SpeedCameraAnswer) }),
  fuel_prices: Type.Object({ stations: Type.Array(FuelStationAnswer) }),
  weather: WeatherAnswer,
  site_image: Type.Object({ image: SiteImageAnswer }),
  site_images: Type.Object({ images: Type.Array(SitePicture) }),
} satisfies Record<MapsAction, TSchema>;

export type DataByAction = { readonly [A in MapsAction]: Checked<(typeof DATA)[A]> };
export type DataOf<A extends MapsAction> = DataByAction[A];

const attribution = Type.Array(text(), {
  description: "What the licences of the sources ask to be shown with the data",
});
const provider = text({ description: "The kind of the provider that answered" });

/** The reply of every action. */
export const MapsAnswer = Type.Union(
  (Object.keys(ACTIONS) as MapsAction[]).map((action) =>
    named(
      replyName(action),
      {
        object: Type.Literal("maps.result"),
        action: Type.Literal(action),
        data: DATA[action],
        attribution,
        provider,
        svc: Cost,
      },
      { description: `Answers ${ACTIONS[action].about}.` },
    ),
  ),
);

/** `route_traffic` has a RouteTrafficReply. */
function replyName(action: MapsAction): string {
  return `${action.split("_").map(capitalised).join("")}Reply`;
}
