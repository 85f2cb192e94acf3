// Open-Meteo: the weather. The base URL is the one before `/v1/forecast`; units are its defaults.

import { isObject, type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { WeatherAnswer, WeatherDay, WeatherNow } from "../../place-answers.ts";
import type { Services } from "../provider.ts";
import { localTime, numberOf, required, textOrNull, unreadable } from "./read.ts";
import { degrees, jsonService, type Upstream } from "./upstream.ts";

const ATTRIBUTION = ["Weather data by Open-Meteo.com, CC BY 4.0, https://open-meteo.com"];
const CURRENT = [
  "temperature_2m",
  "apparent_temperature",
  "relative_humidity_2m",
  "precipitation",
  "cloud_cover",
  "pressure_msl",
  "wind_speed_10m",
  "wind_direction_10m",
  "weather_code",
];
const DAILY = [
  "temperature_2m_min",
  "temperature_2m_max",
  "precipitation_sum",
  "precipitation_probability_max",
  "wind_speed_10m_max",
  "weather_code",
  "sunrise",
  "sunset",
];
const DAY_S = 86_400;
/** Unix time in seconds, later than any forecast. */
const TIME_MAX = 32_503_680_000;

export function openMeteo(upstream: Upstream): Services {
  const keyed = { ...upstream, keyParameter: "apikey" };
  return {
    weather: jsonService(keyed, {
      request: ({ lat, lon, days }) => ({
        path: "/v1/forecast",
        query: {
          latitude: degrees(lat),
          longitude: degrees(lon),
          current: CURRENT.join(","),
          daily: DAILY.join(","),
          forecast_days: days,
          timezone: "auto",
          // Local times of the provider have no offset, and one hour in autumn occurs twice.
          timeformat: "unixtime",
        },
      }),
      answer: (reply, { days }) => ({ data: toWeather(reply, days), attribution: ATTRIBUTION }),
    }),
  };
}

function toWeather(reply: unknown, daysMax: number): WeatherAnswer {
  if (!isObject(reply)) throw new RouteFailure("The reply is no forecast");
  const offset = required(numberOf(reply.utc_offset_seconds, -DAY_S, DAY_S), "utc_offset_seconds");
  const current = toNow(objectOrEmpty(reply.current), offset);
  const days = toDays(objectOrEmpty(reply.daily), offset, daysMax);
  if (![current, ...days].some(hasFigure)) throw unreadable("figure");
  return { timezone: textOrNull(reply.timezone, 60), current, days };
}

/** True if a part of a forecast has a figure. A forecast without any figure is no answer. */
function hasFigure(part: WeatherNow | WeatherDay): boolean {
  return Object.values(part).some((value) => typeof value === "number");
}

function toNow(current: Json, offset: number): WeatherNow {
  return {
    time: required(instantOf(current.time, offset), "time"),
    temperature_c: temperatureOf(current.temperature_2m),
    apparent_temperature_c: celsius(current.apparent_temperature),
    humidity_percent: percent(current.relative_humidity_2m),
    precipitation_mm: numberOf(current.precipitation, 0, 5_000),
    cloud_cover_percent: percent(current.cloud_cover),
    pressure_hpa: numberOf(current.pressure_msl, 500, 1_200),
    wind_speed_kmh: numberOf(current.wind_speed_10m, 0, 600),
    wind_direction_deg: numberOf(current.wind_direction_10m, 0, 360),
    weather_code: numberOf(current.weather_code, 0, 99),
  };
}

function toDays(daily: Json, offset: number, daysMax: number): WeatherDay[] {
  const { time } = daily;
  if (!Array.isArray(time)) throw new RouteFailure("The reply has no days");
  return time.slice(0, daysMax).flatMap((start, index) => {
    const begin = instantOf(start, offset);
    if (begin === null) return [];
    const at = (name: string) => {
      const column = daily[name];
      return Array.isArray(column) ? column[index] : null;
    };
    // If the sun does not rise on a day, some models send the time of another day.
    const sun = (name: string) => {
      const seconds = at(name);
      if (typeof seconds !== "number" || typeof start !== "number") return null;
      const isThatDay = Math.abs(seconds - start - DAY_S / 2) <= DAY_S;
      return isThatDay ? instantOf(seconds, offset) : null;
    };
    return {
      date: begin.slice(0, 10),
      temperature_min_c: celsius(at("temperature_2m_min")),
      temperature_max_c: celsius(at("temperature_2m_max")),
      precipitation_mm: numberOf(at("precipitation_sum"), 0, 5_000),
      precipitation_probability_percent: percent(at("precipitation_probability_max")),
      wind_speed_max_kmh: numberOf(at("wind_speed_10m_max"), 0, 600),
      weather_code: numberOf(at("weather_code"), 0, 99),
      sunrise: sun("sunrise"),
      sunset: sun("sunset"),
    };
  });
}

function instantOf(value: unknown, offset: number): string | null {
  const seconds = numberOf(value, 0, TIME_MAX);
  return seconds === null ? null : localTime(seconds * 1_000, offset);
}

/** Null if the temperature is missing. An impossible temperature makes the reply unreadable. */
function temperatureOf(value: unknown): number | null {
  return value === null || value === undefined ? null : required(celsius(value), "temperature_2m");
}

function celsius(value: unknown): number | null {
  return numberOf(value, -120, 80);
}

function percent(value: unknown): number | null {
  return numberOf(value, 0, 100);
}
