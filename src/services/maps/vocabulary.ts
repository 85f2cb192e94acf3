// The words that maps actions take and answer.

/** Kinds of points of interest, as OpenStreetMap tags them. */
export const POI_CATEGORIES = [
  "airport",
  "atm",
  "bank",
  "bar",
  "bus_station",
  "cafe",
  "car_rental",
  "charging_station",
  "cinema",
  "fuel",
  "hospital",
  "hotel",
  "library",
  "museum",
  "park",
  "parking",
  "pharmacy",
  "place_of_worship",
  "police",
  "post_office",
  "restaurant",
  "school",
  "supermarket",
  "toilets",
  "tourist_attraction",
  "train_station",
  "university",
  "viewpoint",
] as const;

export type TransitMode =
  | "bus"
  | "tram"
  | "subway"
  | "suburban"
  | "regional_rail"
  | "long_distance_rail"
  | "ferry"
  | "air"
  | "cable"
  | "walk"
  | "other";

/** The classes of OpenStreetMap's highway tag, coarsely. */
export type RoadClass =
  | "motorway"
  | "trunk"
  | "primary"
  | "secondary"
  | "tertiary"
  | "unclassified"
  | "residential"
  | "service"
  | "track"
  | "pedestrian"
  | "cycleway"
  | "path"
  | "other";

export type IncidentKind =
  | "accident"
  | "congestion"
  | "roadworks"
  | "closure"
  | "lane_closure"
  | "weather"
  | "hazard"
  | "breakdown"
  | "other";
