// Servers that draw maps as pictures.

import type { Position } from "../../../../annexes/atlas/geography.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { ParametersOf } from "../../actions.ts";
import type { Service, Services, Unable } from "../provider.ts";
import { OPENSTREETMAP } from "./openstreetmap.ts";
import { degrees, requestBytes, type Upstream, type UpstreamRequest } from "./upstream.ts";

type ImageParameters = ParametersOf<"site_image">;

/** Metres per pixel at the equator at zoom 0: the WGS84 equator over 256 pixels. */
const METRES_PER_PIXEL = (2 * Math.PI * 6_378_137) / 256;
/** Web Mercator ends here. */
const LATITUDE_MAX = 85.0511;
const MARKER_CORNERS = 24;
const MARKER_PIXELS = 6;
// The URL standard encodes the braces of a base URL.
const STYLE = /\{style\}|%7bstyle%7d/i;

/**
 * TileServer GL. The base URL is that of a style, `…/styles/NAME`. If the address contains
 * `{style}` in place of the name, the server must have styles named light and dark; otherwise the
 * one style counts as light.
 */
export function tileServerGl(upstream: Upstream): Services {
  const { baseUrl } = upstream.server;
  const keyed = { ...upstream, keyParameter: "key" };
  const hasStyles = STYLE.test(baseUrl);
  return {
    site_image: imageService({
      unable: ({ style }) => (hasStyles || style === "light" ? null : onlyLight),
      upstream: ({ style }) => {
        return { ...keyed, server: { ...upstream.server, baseUrl: baseUrl.replace(STYLE, style) } };
      },
      request: tileServerRequest,
      attribution: ["© OpenMapTiles, https://openmaptiles.org", OPENSTREETMAP],
    }),
  };
}

function tileServerRequest(parameters: ImageParameters): UpstreamRequest {
  const { lat, lon, zoom, width, height, marker } = parameters;
  const path = `/static/${degrees(lon)},${degrees(lat)},${zoom}/${width}x${height}.png`;
  if (!marker) return { path };
  // Markers of the server need a picture on its disk; a filled ring does not.
  const query = { path: ringAround(parameters), fill: "#d32f2f", stroke: "#ffffff", width: 2 };
  return { path, query };
}

function ringAround({ lat, lon, zoom }: ImageParameters): string {
  const metres = MARKER_PIXELS * metresPerPixel(lat, zoom);
  const degreesNorth = metres / 111_195;
  const degreesEast = degreesNorth / Math.cos((lat * Math.PI) / 180);
  const corners = Array.from({ length: MARKER_CORNERS + 1 }, (_, index) => {
    const angle = (2 * Math.PI * (index % MARKER_CORNERS)) / MARKER_CORNERS;
    const corner: Position = {
      lat: lat + degreesNorth * Math.cos(angle),
      lon: lon + degreesEast * Math.sin(angle),
    };
    return `${degrees(corner.lon)},${degrees(corner.lat)}`;
  });
  return corners.join("|");
}

/**
 * Any other server. The base URL is a template with {lat}, {lon}, {zoom}, {width} and {height}. The
 * template may contain {style}, which becomes light or dark, {key}, and {marker:…}, with a text
 * that is kept only if the site should be marked.
 */
export function staticMap(upstream: Upstream): Services {
  const template = upstream.server.baseUrl;
  const unableTo = ["lat", "lon", "zoom", "width", "height"].find(
    (name) => !template.includes(`{${name}}`),
  );
  return {
    site_image: imageService({
      unable: ({ style, marker }) => {
        if (unableTo !== undefined) {
          return { parameter: unableTo, problem: "cannot be chosen here" };
        }
        if (marker && !MARKER.test(template)) {
          return { parameter: "marker", problem: "must be false here" };
        }
        return style === "light" || template.includes("{style}") ? null : onlyLight;
      },
      upstream: (parameters) => {
        const hasKey = template.includes("{key}");
        const baseUrl = fillIn(template, parameters, upstream.server.apiKey ?? "");
        const apiKey = hasKey ? null : upstream.server.apiKey;
        return { ...upstream, server: { ...upstream.server, baseUrl, apiKey } };
      },
      request: () => ({ path: "" }),
      attribution: [OPENSTREETMAP],
    }),
  };
}

const MARKER = /\{marker:((?:[^{}]|\{\w+\})*)\}/;
const MARKERS = new RegExp(MARKER, "g");

/** Fills in a template: returns the address of the picture. */
function fillIn(template: string, parameters: ImageParameters, key: string): string {
  const values: Readonly<Record<string, string>> = {
    lat: degrees(parameters.lat),
    lon: degrees(parameters.lon),
    zoom: String(parameters.zoom),
    width: String(parameters.width),
    height: String(parameters.height),
    style: parameters.style,
    key: encodeURIComponent(key),
  };
  return template
    .replace(MARKERS, (_, text: string) => (parameters.marker ? text : ""))
    .replace(/\{(\w+)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? "") : whole,
    );
}

const onlyLight: Unable = { parameter: "style", problem: "must be light here" };

interface ImageMapper {
  readonly unable: (parameters: ImageParameters) => Unable | null;
  /** The server; its address may depend on the parameters. */
  readonly upstream: (parameters: ImageParameters) => Upstream;
  readonly request: (parameters: ImageParameters) => UpstreamRequest;
  readonly attribution: readonly string[];
}

function imageService(mapper: ImageMapper): Service<"site_image"> {
  return {
    unable: (parameters) => unableLatitude(parameters) ?? mapper.unable(parameters),
    async ask(parameters, options) {
      const bytes = await requestBytes(
        mapper.upstream(parameters),
        mapper.request(parameters),
        options,
      );
      const size = pngSize(bytes);
      if (size === null) throw new RouteFailure("The server sent something that is not a PNG");
      const { lat, lon, zoom, width, height } = parameters;
      if (size.width !== width || size.height !== height) {
        throw new RouteFailure("The picture is not of the size that was asked for");
      }
      const metres_per_pixel = Number(metresPerPixel(lat, zoom).toPrecision(4));
      const url = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
      const image = { lat, lon, width, height, zoom, metres_per_pixel, url };
      return { data: { image }, attribution: mapper.attribution };
    },
  };
}

function unableLatitude({ lat }: ImageParameters): Unable | null {
  if (Math.abs(lat) <= LATITUDE_MAX) return null;
  return { parameter: "lat", problem: `must be from -${LATITUDE_MAX} to ${LATITUDE_MAX} here` };
}

function metresPerPixel(lat: number, zoom: number): number {
  return (METRES_PER_PIXEL * Math.cos((lat * Math.PI) / 180)) / 2 ** zoom;
}

/** The head and the end of a PNG file: W3C PNG, sections 5.2, 11.2.1 and 11.2.5. */
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const PNG_HEAD_BYTES = 33;
/** The last chunk, which is always the same. */
const PNG_END = Buffer.from("\0\0\0\0IEND\xae\x42\x60\x82", "latin1");

/**
 * The size of a picture in pixels; null if it is not a whole PNG. A body that ends with its
 * connection may be incomplete without any sign.
 */
function pngSize(bytes: Uint8Array): { width: number; height: number } | null {
  const isPng = PNG_SIGNATURE.every((byte, index) => bytes[index] === byte);
  if (!isPng || bytes.byteLength < PNG_HEAD_BYTES) return null;
  const picture = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (picture.readUInt32BE(12) !== 0x49484452 || !picture.includes(PNG_END)) return null;
  return { width: picture.readUInt32BE(16), height: picture.readUInt32BE(20) };
}
