// The answers of maps actions about places, sites and their weather: one shape for all providers.

import { type Checked, named, nullable, oneOf, Type, text } from "../../http/schema.ts";
import { Position } from "./geo-schema.ts";

export const PlaceAnswer = named(
  "Place",
  {
    ...Position.properties,
    name: text(),
    label: text({ description: "The whole name, as it would be written on one line" }),
    kind: oneOf([
      "address",
      "street",
      "district",
      "city",
      "county",
      "state",
      "country",
      "poi",
      "other",
    ]),
    country_code: nullable(text()),
    country: nullable(text()),
    state: nullable(text()),
    county: nullable(text()),
    city: nullable(text()),
    postcode: nullable(text()),
    street: nullable(text()),
    house_number: nullable(text()),
    population: nullable(Type.Number()),
    timezone: nullable(text()),
  },
  { description: "A named place, or an address" },
);
export type PlaceAnswer = Checked<typeof PlaceAnswer>;

export const NearbyPlace = named("NearbyPlace", {
  ...PlaceAnswer.properties,
  distance_m: Type.Number(),
});
export type NearbyPlace = Checked<typeof NearbyPlace>;

export const PlaceAtAnswer = named("PlaceAt", {
  country_code: nullable(text()),
  country: nullable(text()),
  state: nullable(text()),
  county: nullable(text()),
  timezone: nullable(text({ description: "An IANA name, such as Europe/Berlin" })),
  utc_offset_s: nullable(
    Type.Number({ description: "Offset of that time zone from UTC now, in seconds" }),
  ),
  drives_on: nullable(oneOf(["left", "right"])),
  calling_code: nullable(text({ description: "Such as +49" })),
  nearest_place: nullable(NearbyPlace),
});
export type PlaceAtAnswer = Checked<typeof PlaceAtAnswer>;

export const PoiAnswer = named("Poi", {
  ...Position.properties,
  id: nullable(text()),
  name: nullable(text()),
  category: text(),
  distance_m: Type.Number(),
  address: nullable(text()),
  phone: nullable(text()),
  website: nullable(text()),
  opening_hours: nullable(text({ description: "In the syntax of OpenStreetMap's opening_hours" })),
  code: nullable(text({ description: "The IATA code of an airport, or the code of a station" })),
});
export type PoiAnswer = Checked<typeof PoiAnswer>;

export const SiteImageAnswer = named("SiteImage", {
  ...Position.properties,
  width: Type.Number(),
  height: Type.Number(),
  zoom: Type.Number(),
  metres_per_pixel: Type.Number({ description: "At the site, with the width of one pixel" }),
  url: text({ description: "A `data:image/png;base64,` URL" }),
});
export type SiteImageAnswer = Checked<typeof SiteImageAnswer>;

export const SitePicture = named("SitePicture", {
  ...Position.properties,
  kind: oneOf(["map", "photo"], {
    description: "What kind of picture: a drawn map, or a photograph taken there",
  }),
  url: text({ description: "A `data:` URL with the picture in it, or an https address of it" }),
  width: nullable(Type.Number()),
  height: nullable(Type.Number()),
  distance_m: Type.Number(),
  captured_at: nullable(text()),
  heading_deg: nullable(
    Type.Number({ description: "Degrees clockwise from north that the camera looked in" }),
  ),
  caption: nullable(text()),
});
export type SitePicture = Checked<typeof SitePicture>;

export const WeatherNow = named("WeatherNow", {
  time: text(),
  temperature_c: nullable(Type.Number()),
  apparent_temperature_c: nullable(Type.Number()),
  humidity_percent: nullable(Type.Number({ description: "0 to 100" })),
  precipitation_mm: nullable(Type.Number({ description: "Of the last hour or less" })),
  cloud_cover_percent: nullable(Type.Number()),
  pressure_hpa: nullable(Type.Number()),
  wind_speed_kmh: nullable(Type.Number()),
  wind_direction_deg: nullable(
    Type.Number({ description: "Degrees clockwise from north that it blows from" }),
  ),
  weather_code: nullable(Type.Number({ description: "WMO code table 4677, as forecasts use it" })),
});
export type WeatherNow = Checked<typeof WeatherNow>;

export const WeatherDay = named("WeatherDay", {
  date: text({ description: "YYYY-MM-DD in the place's time zone" }),
  temperature_min_c: nullable(Type.Number()),
  temperature_max_c: nullable(Type.Number()),
  precipitation_mm: nullable(Type.Number()),
  precipitation_probability_percent: nullable(Type.Number()),
  wind_speed_max_kmh: nullable(Type.Number()),
  weather_code: nullable(Type.Number()),
  sunrise: nullable(text()),
  sunset: nullable(text()),
});
export type WeatherDay = Checked<typeof WeatherDay>;

export const WeatherAnswer = named("Weather", {
  timezone: nullable(text()),
  current: WeatherNow,
  days: Type.Array(WeatherDay),
});
export type WeatherAnswer = Checked<typeof WeatherAnswer>;
