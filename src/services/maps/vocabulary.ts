// The words in parameters and answers of maps actions.

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

export const TRANSIT_MODES = [
  "bus",
  "tram",
  "subway",
  "suburban",
  "regional_rail",
  "long_distance_rail",
  "ferry",
  "air",
  "cable",
  "walk",
  "other",
] as const;
export type TransitMode = (typeof TRANSIT_MODES)[number];

/** The classes of OpenStreetMap's highway tag, simplified. */
export const ROAD_CLASSES = [
  "motorway",
  "trunk",
  "primary",
  "secondary",
  "tertiary",
  "unclassified",
  "residential",
  "service",
  "track",
  "pedestrian",
  "cycleway",
  "path",
  "other",
] as const;
export type RoadClass = (typeof ROAD_CLASSES)[number];

export const INCIDENT_KINDS = [
  "accident",
  "congestion",
  "roadworks",
  "closure",
  "lane_closure",
  "weather",
  "hazard",
  "breakdown",
  "other",
] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];
