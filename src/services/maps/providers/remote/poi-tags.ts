// Maps categories of points of interest to OpenStreetMap's tags.

import type { ParametersOf } from "../../actions.ts";

type PoiCategory = ParametersOf<"poi">["category"];

/** The tag of each category: https://wiki.openstreetmap.org/wiki/Map_features. */
export const POI_TAGS: Readonly<Record<PoiCategory, readonly [key: string, value: string]>> = {
  airport: ["aeroway", "aerodrome"],
  atm: ["amenity", "atm"],
  bank: ["amenity", "bank"],
  bar: ["amenity", "bar"],
  bus_station: ["amenity", "bus_station"],
  cafe: ["amenity", "cafe"],
  car_rental: ["amenity", "car_rental"],
  charging_station: ["amenity", "charging_station"],
  cinema: ["amenity", "cinema"],
  fuel: ["amenity", "fuel"],
  hospital: ["amenity", "hospital"],
  hotel: ["tourism", "hotel"],
  library: ["amenity", "library"],
  museum: ["tourism", "museum"],
  park: ["leisure", "park"],
  parking: ["amenity", "parking"],
  pharmacy: ["amenity", "pharmacy"],
  place_of_worship: ["amenity", "place_of_worship"],
  police: ["amenity", "police"],
  post_office: ["amenity", "post_office"],
  restaurant: ["amenity", "restaurant"],
  school: ["amenity", "school"],
  supermarket: ["shop", "supermarket"],
  toilets: ["amenity", "toilets"],
  tourist_attraction: ["tourism", "attraction"],
  train_station: ["railway", "station"],
  university: ["amenity", "university"],
  viewpoint: ["tourism", "viewpoint"],
};
