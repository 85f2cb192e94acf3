// What each maps action answers: one shape, whichever provider serves it. Names end in their unit
// (`_m` metres, `_s` seconds, `_kmh`), times are RFC 3339 with an offset, countries ISO 3166-1
// alpha-2, money is in the currency named beside it. Null: the provider does not know.

import type { LineString, Position } from "./geography.ts";
import type { IncidentKind, RoadClass, TransitMode } from "./vocabulary.ts";

export type { IncidentKind, RoadClass, TransitMode };

/** A named place, or an address. */
export interface PlaceAnswer extends Position {
  readonly name: string;
  /** The whole name, as it would be written on one line. */
  readonly label: string;
  readonly kind:
    | "address"
    | "street"
    | "district"
    | "city"
    | "county"
    | "state"
    | "country"
    | "poi"
    | "other";
  readonly country_code: string | null;
  readonly country: string | null;
  readonly state: string | null;
  readonly county: string | null;
  readonly city: string | null;
  readonly postcode: string | null;
  readonly street: string | null;
  readonly house_number: string | null;
  readonly population: number | null;
  readonly timezone: string | null;
}

export interface NearbyPlace extends PlaceAnswer {
  readonly distance_m: number;
}

export interface PlaceAtAnswer {
  readonly country_code: string | null;
  readonly country: string | null;
  readonly state: string | null;
  readonly county: string | null;
  /** An IANA name, such as Europe/Berlin. */
  readonly timezone: string | null;
  /** Offset of that time zone from UTC now, in seconds. */
  readonly utc_offset_s: number | null;
  readonly drives_on: "left" | "right" | null;
  /** Such as +49. */
  readonly calling_code: string | null;
  readonly nearest_place: NearbyPlace | null;
}

export interface PoiAnswer extends Position {
  readonly id: string | null;
  readonly name: string | null;
  readonly category: string;
  readonly distance_m: number;
  readonly address: string | null;
  readonly phone: string | null;
  readonly website: string | null;
  /** In the syntax of OpenStreetMap's opening_hours. */
  readonly opening_hours: string | null;
  /** The IATA code of an airport, or the code of a station. */
  readonly code: string | null;
}

export interface StopAnswer extends Position {
  readonly stop_id: string;
  readonly name: string;
  readonly distance_m: number;
  readonly modes: readonly TransitMode[];
}

/** A time by the timetable, and as it is expected where that is known. */
export interface StopTime {
  readonly scheduled: string;
  readonly expected: string | null;
}

export interface DepartureAnswer {
  readonly departure: StopTime;
  readonly line: string;
  readonly mode: TransitMode;
  readonly headsign: string | null;
  readonly platform: string | null;
  readonly operator: string | null;
  readonly cancelled: boolean;
  readonly trip_id: string | null;
}

export interface LegEnd extends Position {
  readonly name: string | null;
  readonly stop_id: string | null;
  readonly platform: string | null;
  readonly time: StopTime;
}

export interface JourneyLeg {
  readonly mode: TransitMode;
  readonly line: string | null;
  readonly headsign: string | null;
  readonly operator: string | null;
  readonly from: LegEnd;
  readonly to: LegEnd;
  readonly duration_s: number;
  readonly distance_m: number | null;
  readonly stops_between: number | null;
  readonly cancelled: boolean;
}

export interface JourneyAnswer {
  readonly departure: string;
  readonly arrival: string;
  readonly duration_s: number;
  readonly transfers: number;
  readonly legs: readonly JourneyLeg[];
}

/** A line that serves an area. */
export interface LineAnswer {
  readonly line: string;
  readonly mode: TransitMode;
  readonly name: string | null;
  readonly operator: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** `#` and six hexadecimal digits. */
  readonly colour: string | null;
}

export interface RouteStep {
  readonly instruction: string;
  readonly road: string | null;
  readonly distance_m: number;
  readonly duration_s: number;
  readonly at: Position;
}

export interface RouteAnswer {
  readonly distance_m: number;
  readonly duration_s: number;
  readonly geometry: LineString;
  /** Null where they were not asked for. */
  readonly steps: readonly RouteStep[] | null;
}

export interface TrafficRouteAnswer {
  readonly distance_m: number;
  /** With the traffic of the moment of departure. */
  readonly duration_s: number;
  /** What of the duration is due to traffic. */
  readonly traffic_delay_s: number;
  readonly free_flow_duration_s: number | null;
  readonly departure: string;
  readonly arrival: string;
  readonly geometry: LineString;
}

export interface RoadAnswer {
  readonly road_class: RoadClass;
  readonly name: string | null;
  readonly ref: string | null;
  readonly speed_limit_kmh: number | null;
  readonly oneway: boolean | null;
  readonly surface: string | null;
  readonly lanes: number | null;
  readonly geometry: LineString | null;
}

export interface IncidentAnswer extends Position {
  readonly id: string | null;
  readonly kind: IncidentKind;
  readonly severity: "minor" | "moderate" | "major" | "unknown";
  readonly description: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly roads: readonly string[];
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly length_m: number | null;
  readonly delay_s: number | null;
  readonly geometry: LineString | null;
}

export interface ClosureAnswer extends Position {
  readonly id: string | null;
  readonly reason: "roadworks" | "incident" | "construction" | "access" | "other";
  readonly description: string | null;
  readonly roads: readonly string[];
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly length_m: number | null;
  readonly geometry: LineString | null;
}

export interface TrafficStatusAnswer {
  readonly road_class: RoadClass | null;
  readonly speed_kmh: number;
  readonly free_flow_speed_kmh: number;
  readonly travel_time_s: number | null;
  readonly free_flow_travel_time_s: number | null;
  readonly level: "free" | "slow" | "congested" | "closed";
  /** 0 to 1. */
  readonly confidence: number | null;
  readonly geometry: LineString | null;
}

export interface SpeedCameraAnswer extends Position {
  readonly id: string | null;
  readonly speed_limit_kmh: number | null;
  /** Degrees clockwise from north that it looks in. */
  readonly direction_deg: number | null;
}

export interface FuelStationAnswer extends Position {
  readonly id: string;
  readonly name: string;
  readonly brand: string | null;
  readonly address: string | null;
  readonly distance_m: number;
  readonly is_open: boolean | null;
  /** ISO 4217. */
  readonly currency: string;
  /** Per litre; null for a fuel that is not sold there, or was not asked for. */
  readonly prices: {
    readonly diesel: number | null;
    readonly e5: number | null;
    readonly e10: number | null;
  };
}

export interface WeatherNow {
  readonly time: string;
  readonly temperature_c: number;
  readonly apparent_temperature_c: number | null;
  /** 0 to 100. */
  readonly humidity_percent: number | null;
  /** Of the last hour or less. */
  readonly precipitation_mm: number | null;
  readonly cloud_cover_percent: number | null;
  readonly pressure_hpa: number | null;
  readonly wind_speed_kmh: number | null;
  /** Degrees clockwise from north that it blows from. */
  readonly wind_direction_deg: number | null;
  /** WMO code table 4677, as forecasts use it. */
  readonly weather_code: number | null;
}

export interface WeatherDay {
  /** YYYY-MM-DD in the place's time zone. */
  readonly date: string;
  readonly temperature_min_c: number | null;
  readonly temperature_max_c: number | null;
  readonly precipitation_mm: number | null;
  readonly precipitation_probability_percent: number | null;
  readonly wind_speed_max_kmh: number | null;
  readonly weather_code: number | null;
  readonly sunrise: string | null;
  readonly sunset: string | null;
}

export interface WeatherAnswer {
  readonly timezone: string | null;
  readonly current: WeatherNow;
  readonly days: readonly WeatherDay[];
}

export interface SiteImageAnswer extends Position {
  readonly width: number;
  readonly height: number;
  readonly zoom: number;
  /** At the site, with the width of one pixel. */
  readonly metres_per_pixel: number;
  /** A `data:image/png;base64,` URL. */
  readonly url: string;
}

export interface SitePicture extends Position {
  /** What kind of picture: a drawn map, or a photograph taken there. */
  readonly kind: "map" | "photo";
  /** A `data:` URL with the picture in it, or an https address of it. */
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly distance_m: number;
  readonly captured_at: string | null;
  /** Degrees clockwise from north that the camera looked in. */
  readonly heading_deg: number | null;
  readonly caption: string | null;
}
