// Tests the answers of maps without any configuration, over HTTP, from the data that packages ship.

import { beforeEach, expect, test } from "bun:test";
import type { MapsAction } from "../../../src/services/maps/actions.ts";
import type { DataByAction } from "../../../src/services/maps/maps-replies.ts";
import { openEmbeddedMaps } from "../../../src/services/maps/providers/embedded/embedded-maps.ts";
import { createMapsProvider } from "../../../src/services/maps/providers/maps-provider.ts";
import { DEFAULT_MAPS } from "../../../src/services/maps/servers.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { upstreamFetch } from "../../support/fakes/upstream-fetch.ts";
import { atEnd } from "../../support/shared.ts";
import { daysAgo, type TestAccount } from "../../support/stores/accounts.ts";
import { testDataDirectory } from "../../support/stores/services.ts";

const WINTER = Date.UTC(2026, 0, 15);
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

let account: TestAccount;

const clock = { ...realClock, now: () => WINTER };
const embedded = openEmbeddedMaps({ directory: testDataDirectory(), clock, log: silent });
atEnd(() => embedded[Symbol.dispose]());
const maps = createMapsProvider({
  config: () => DEFAULT_MAPS,
  embedded: embedded.services,
  connect: () => ({}),
  fetch: upstreamFetch,
  clock: realClock,
  log: silent,
});
const api = await sharedApi({ maps });
await embedded.ready;
beforeEach(async () => {
  account = await api.account({ scopes: ["maps"], paid: "100", paidAt: daysAgo(10) });
});

interface Result<A extends MapsAction> {
  readonly data: DataByAction[A];
  readonly attribution: readonly string[];
  readonly provider: string;
}

async function ask<A extends MapsAction>(action: A, query: string): Promise<Result<A>> {
  const response = await api.get(`/v1/maps?action=${action}&${query}`, account);
  expect(await response.clone().text()).not.toContain('"error"');
  expect(response.status).toBe(200);
  return (await response.json()) as Result<A>;
}

const refusal = async (query: string) =>
  errorOf(await api.get(`/v1/maps?action=${query}`, account));

test("geocode finds the place of a name, in any script", async () => {
  const meant: readonly (readonly [query: string, label: string])[] = [
    ["köln", "Köln, North Rhine-Westphalia, Germany"],
    ["Cologne", "Köln, North Rhine-Westphalia, Germany"],
    ["paris", "Paris, Île-de-France, France"],
    ["Paris, TX", "Paris, Texas, United States"],
    ["springfield illinois", "Springfield, Illinois, United States"],
    ["münchen", "Munich, Bavaria, Germany"],
    ["東京", "Tokyo, Japan"],
    ["Москва", "Moscow, Russia"],
    ["new york", "New York City, New York, United States"],
    ["san fran", "San Francisco, California, United States"],
  ];
  for (const [query, label] of meant) {
    const result = await ask("geocode", `query=${encodeURIComponent(query)}&limit=1`);
    expect(result.data.places.map((place) => place.label)).toEqual([label]);
    expect(result.provider).toBe("embedded");
    expect(result.attribution.join()).toContain("GeoNames, CC BY 4.0");
  }
});

test("geocode keeps to a country, prefers near places, and may find none", async () => {
  const inUs = await ask("geocode", "query=paris&country=us");
  expect(new Set(inUs.data.places.map((place) => place.country_code))).toEqual(new Set(["US"]));
  const near = await ask("geocode", "query=cambridge&lat=42.3&lon=-71&limit=1");
  expect(near.data.places[0]?.state).toBe("Massachusetts");
  const none = await ask("geocode", "query=xyzzyqqq");
  expect(none.data).toEqual({ places: [] });
  expect((await api.view(account)).monthSpent as bigint).toBe(150_000n);
});

test("reverse names the nearest place with its distance, and null far out at sea", async () => {
  const { data } = await ask("reverse", "lat=50.94&lon=6.96");
  expect(data.place).toMatchObject({
    country_code: "DE",
    state: "North Rhine-Westphalia",
    timezone: "Europe/Berlin",
  });
  expect(data.place?.distance_m).toBeLessThan(1_500);
  expect((await ask("reverse", "lat=0&lon=-20")).data.place).toBeNull();
  // Across the antimeridian the nearest place has a very different longitude.
  expect((await ask("reverse", "lat=-16.9&lon=-179.99")).data.place?.country_code).toBe("FJ");
});

test("place_at knows country, time zone and offset, side of the road, calling code", async () => {
  expect((await ask("place_at", "lat=51.5&lon=-0.12")).data).toMatchObject({
    country_code: "GB",
    country: "United Kingdom",
    state: "England",
    timezone: "Europe/London",
    utc_offset_s: 0,
    drives_on: "left",
    calling_code: "+44",
  });
  expect((await ask("place_at", "lat=27.7&lon=85.3")).data.utc_offset_s).toBe(20_700);
  expect((await ask("place_at", "lat=40.7&lon=-74")).data.utc_offset_s).toBe(-18_000);
  expect((await ask("place_at", "lat=0&lon=-20")).data).toMatchObject({
    country_code: null,
    state: null,
    nearest_place: null,
  });
});

test("poi lists airports, and stations in Germany, the nearest first", async () => {
  const airports = await ask("poi", "lat=50.87&lon=7.14&radius=50000&category=airport&limit=2");
  expect(airports.data.pois.map(({ code }) => code)[0]).toBe("CGN");
  expect(airports.attribution.join()).toContain("ODbL");
  const stations = await ask("poi", "lat=52.525&lon=13.369&category=train_station");
  expect(stations.data.pois[0]?.name).toBe("Berlin Hauptbahnhof");
  const away = stations.data.pois.map(({ distance_m }) => distance_m);
  expect(away).toEqual([...away].sort((a, b) => a - b));
  expect(Math.max(...away)).toBeLessThanOrEqual(1_000);
});

test("a parameter that the embedded data cannot honour is refused, never ignored", async () => {
  const cases: readonly (readonly [query: string, names: string])[] = [
    ["geocode&query=x&lang=de", "lang"],
    ["reverse&lat=1&lon=1&lang=de", "lang"],
    ["poi&lat=1&lon=1&category=cafe", "category"],
    ["poi&lat=48.86&lon=2.35&category=train_station", "category"],
    ["site_image&lat=1&lon=1&zoom=11", "zoom"],
    ["site_image&lat=86&lon=1", "lat"],
    ["site_images&lat=-89&lon=1", "lat"],
  ];
  for (const [query, names] of cases) {
    const error = await refusal(query);
    expect(error.code).toBe("invalid_parameter");
    expect(error.message).toStartWith(names);
  }
  expect((await api.view(account)).monthSpent as bigint).toBe(0n);
});

test("an action that no server serves names the setting that would enable it", async () => {
  const error = await refusal("weather&lat=1&lon=1");
  expect(error.code).toBe("maps_unavailable");
  expect(error.message).toContain("maps.actions.weather");
  expect((await api.view(account)).monthSpent as bigint).toBe(0n);
});

test("site_image is a PNG of the requested size, as a data URL or as bytes", async () => {
  const query = "lat=52.52437&lon=13.41053&zoom=6&width=320&height=200";
  const { data, attribution } = await ask("site_image", query);
  expect(data.image).toMatchObject({ width: 320, height: 200, zoom: 6, lat: 52.52437 });
  expect(data.image.metres_per_pixel).toBeCloseTo(1_488, 0);
  const png = Uint8Array.fromBase64(data.image.url.replace("data:image/png;base64,", ""));
  expect([...png.subarray(0, 8)]).toEqual(PNG);
  // IHDR holds width and height (PNG, 11.2.2).
  const header = new DataView(png.buffer, png.byteOffset);
  expect([header.getUint32(16), header.getUint32(20)]).toEqual([320, 200]);
  expect(attribution.join()).toContain("Natural Earth");
  const bytes = await api.get(`/v1/maps?action=site_image&${query}&format=png`, account);
  expect(bytes.headers.get("content-type")).toBe("image/png");
  expect(bytes.headers.get("x-svc-cost-usd")).toBe("0.000005");
  expect(new Uint8Array(await bytes.arrayBuffer())).toEqual(png);
});

test("site_images are the requested number of maps of a site, each of another scale", async () => {
  const { data } = await ask("site_images", "lat=40.85&lon=14.27&limit=3");
  expect(data.images.map(({ caption }) => caption)).toEqual([
    "Map at zoom 10",
    "Map at zoom 8",
    "Map at zoom 6",
  ]);
  expect(new Set(data.images.map(({ url }) => url)).size).toBe(3);
});
