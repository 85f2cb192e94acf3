import { expect, test } from "bun:test";
import { shared } from "../../../../support/shared.ts";
import { startMapping } from "./mapping-harness.ts";

const OSM = "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright";

const mapping = await shared(startMapping());

/** The fields of a place that the replies below leave out. */
const PLACE = {
  country_code: "DE",
  country: null,
  state: null,
  county: null,
  city: null,
  postcode: null,
  street: null,
  house_number: null,
  population: null,
  timezone: null,
};
const MUSEUM = {
  ...PLACE,
  name: "Fahrkartenmuseum",
  label: "Fahrkartenmuseum, 7, Prepaid-Allee, Mitte, Berlin, 10117, Deutschland",
  kind: "poi",
  lat: 52.5170365,
  lon: 13.3888599,
  country: "Deutschland",
  state: "Berlin",
  city: "Berlin",
  postcode: "10117",
  street: "Prepaid-Allee",
  house_number: "7",
};
const BERLIN = {
  ...PLACE,
  name: "Berlin",
  label: "Berlin, Germany",
  kind: "city",
  lat: 52.5170365,
  lon: 13.3888599,
  country: "Germany",
  state: "Berlin",
  city: "Berlin",
};
const DISTANCE = { distance_m: 2039 };
/** The fields that the border and the time zone add. */
const IN_BERLIN = {
  country_code: "DE",
  state: "Berlin",
  county: null,
  timezone: "Europe/Berlin",
  utc_offset_s: 3600,
  drives_on: "right",
  calling_code: "+49",
};

test("Nominatim gets country and language; its texts become numbers", async () => {
  const { request, data, attribution } = await mapping.mapped("nominatim geocode");
  expect(request).toEqual([
    "GET /search",
    "q=Museum",
    "format=jsonv2",
    "addressdetails=1",
    "limit=2",
    "countrycodes=de",
    "viewbox=12.4,51.5,14.4,53.5",
    "accept-language=de",
  ]);
  expect(data).toEqual({
    places: [
      MUSEUM,
      {
        ...PLACE,
        name: "Fahrstadt",
        label: "Fahrstadt, Kreis Tarif, Deutschland",
        kind: "city",
        lat: 50.93333,
        lon: 6.95,
        county: "Kreis Tarif",
        city: "Fahrstadt",
      },
    ],
  });
  expect(attribution).toEqual([OSM]);
});

test("Nominatim names the place at a position, and its distance", async () => {
  const { request, data, attribution } = await mapping.mapped("nominatim reverse");
  expect(request).toEqual([
    "GET /reverse",
    "lat=52.5",
    "lon=13.4",
    "format=jsonv2",
    "addressdetails=1",
    "accept-language=de",
  ]);
  expect(data).toEqual({
    place: { ...MUSEUM, ...DISTANCE },
  });
  expect(attribution).toEqual([OSM]);
});

test("Nominatim's place is completed by the border and the time zone", async () => {
  const { request, data, attribution } = await mapping.mapped("nominatim place_at");
  expect(request).toEqual([
    "GET /reverse",
    "lat=52.5",
    "lon=13.4",
    "format=jsonv2",
    "addressdetails=1",
  ]);
  expect(data).toEqual({
    ...IN_BERLIN,
    country: "Deutschland",
    nearest_place: { ...MUSEUM, ...DISTANCE },
  });
  expect(attribution).toEqual([OSM]);
});

test("Photon gets a language without its region", async () => {
  const { request, data, attribution } = await mapping.mapped("photon geocode");
  expect(request).toEqual(["GET /api", "q=b", "limit=5", "lang=pt", "lat=52.5", "lon=13.4"]);
  expect(data).toEqual({
    places: [
      BERLIN,
      {
        ...PLACE,
        name: "Fare Stadium",
        label: "Fare Stadium, Prepaid-Allee 3, 14053 Berlin, Berlin, Germany",
        kind: "poi",
        lat: 52.5146794,
        lon: 13.2395146,
        country: "Germany",
        state: "Berlin",
        city: "Berlin",
        postcode: "14053",
        street: "Prepaid-Allee",
        house_number: "3",
      },
    ],
  });
  expect(attribution).toEqual([OSM]);
});

test("Photon names the place nearest to a position", async () => {
  const { request, data, attribution } = await mapping.mapped("photon reverse");
  expect(request).toEqual(["GET /reverse", "lat=52.5", "lon=13.4", "limit=1"]);
  expect(data).toEqual({
    place: { ...BERLIN, ...DISTANCE },
  });
  expect(attribution).toEqual([OSM]);
});

test("Photon's place is completed by the border and time zone", async () => {
  const { request, data, attribution } = await mapping.mapped("photon place_at");
  expect(request).toEqual(["GET /reverse", "lat=52.5", "lon=13.4", "limit=1"]);
  expect(data).toEqual({
    ...IN_BERLIN,
    country: "Germany",
    nearest_place: { ...BERLIN, ...DISTANCE },
  });
  expect(attribution).toEqual([OSM]);
});
