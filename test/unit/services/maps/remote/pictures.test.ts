// Tests maps that a server draws.

import { expect, test } from "bun:test";
import { RouteFailure } from "../../../../../src/upstream/route-failure.ts";
import { askServer, serverOf } from "../../../../support/fakes/maps-cases.ts";
import { png } from "../../../../support/fakes/maps-fixtures/picture.ts";
import { shared } from "../../../../support/shared.ts";
import { FakeMapServer } from "./fake-map-server.ts";

const fake = await shared(FakeMapServer.start());
const { baseUrl } = fake;

const QUERY = "lat=52.5&lon=13.4&zoom=12&width=320&height=200";

async function picture(kind: "tileserver-gl" | "static-map", path: string, query = QUERY) {
  const server = { ...serverOf(kind, ""), baseUrl: `${baseUrl}${path}` };
  const { data, attribution } = await askServer({ server, action: "site_image", query });
  return { data, attribution, target: decodeURIComponent(fake.last().target) };
}

test("TileServer GL draws the requested map; the site is marked by a ring around it", async () => {
  const bytes = png(320, 200);
  fake.behaviour = { status: 200, body: bytes };
  const { data, attribution, target } = await picture("tileserver-gl", "/styles/basic");
  expect(target).toStartWith("/styles/basic/static/13.4,52.5,12/320x200.png?path=");
  expect(target).toContain("key=key-7f31");
  const ring = /path=([^&]+)/.exec(target)?.[1]?.split("|") ?? [];
  expect(ring).toHaveLength(25);
  expect(ring.at(0)).toBe(ring.at(-1) ?? "");
  for (const corner of ring) {
    const [lon = 0, lat = 0] = corner.split(",").map(Number);
    const east = (lon - 13.4) * Math.cos((52.5 * Math.PI) / 180);
    // Six pixels of 23.27 metres.
    expect(Math.hypot(east, lat - 52.5) * 111_195).toBeCloseTo(139.6, 0);
  }
  expect(data).toEqual({
    image: {
      lat: 52.5,
      lon: 13.4,
      width: 320,
      height: 200,
      zoom: 12,
      metres_per_pixel: 23.27,
      url: `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`,
    },
  });
  expect(attribution.join()).toContain("OpenStreetMap contributors, ODbL");
});

test("TileServer GL draws without a marker, in the requested style", async () => {
  fake.behaviour = { status: 200, body: png(320, 200) };
  const query = `${QUERY}&marker=false&style=dark`;
  const { target } = await picture("tileserver-gl", "/styles/%7Bstyle%7D", query);
  expect(target).toBe("/styles/dark/static/13.4,52.5,12/320x200.png?key=key-7f31-never-to-be-seen");
});

test("a template is filled in; the marker's part appears only with a marker", async () => {
  fake.behaviour = { status: 200, body: png(320, 200) };
  const template =
    "/{style}/{lon},{lat},{zoom}/{width}x{height}?k={key}{marker:&pin={lat},{lon}}&{x}";
  const marked = await picture("static-map", template);
  expect(marked.target).toBe(
    "/light/13.4,52.5,12/320x200?k=key-7f31-never-to-be-seen&pin=52.5,13.4&{x}",
  );
  const plain = await picture("static-map", template, `${QUERY}&marker=false`);
  expect(plain.target).toBe("/light/13.4,52.5,12/320x200?k=key-7f31-never-to-be-seen&{x}");
  expect(fake.last().headers.authorization).toBeUndefined();
});

test("a picture that is not a PNG, is cut off, or has another size is no map", async () => {
  const whole = png(320, 200);
  const cuts = [20, 40, whole.length - 12, whole.length - 1].map((end) => whole.slice(0, end));
  const bodies = [png(640, 400), ...cuts, Buffer.from("GIF89a"), Buffer.from("")];
  for (const body of bodies) {
    fake.behaviour = { status: 200, body };
    const failure = await picture("tileserver-gl", "/styles/basic").catch((error) => error);
    expect(failure).toBeInstanceOf(RouteFailure);
  }
});
