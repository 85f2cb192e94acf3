import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { stopId } from "../../../../../src/services/maps/parameters.ts";
import {
  decodeStopId,
  encodeStopId,
} from "../../../../../src/services/maps/providers/remote/motis-stop-id.ts";
import { instructionOf } from "../../../../../src/services/maps/providers/remote/osrm-instruction.ts";
import { decodePolyline } from "../../../../../src/services/maps/providers/remote/polyline.ts";
import {
  localTime,
  offsetTime,
  textOrNull,
  webAddress,
} from "../../../../../src/services/maps/providers/remote/read.ts";
import { degrees } from "../../../../../src/services/maps/providers/remote/upstream.ts";

/** Encodes Google's format, from its description. */
function encodePolyline(points: readonly (readonly [lon: number, lat: number])[]): string {
  const last = [0, 0];
  const values = points.flatMap(([lon, lat]) =>
    [lat, lon].map((degree, axis) => {
      const value = Math.round(degree * 1e6);
      const difference = value - (last[axis] ?? 0);
      last[axis] = value;
      return difference < 0 ? -2 * difference - 1 : 2 * difference;
    }),
  );
  return values.map(chunks).join("");
}

function chunks(value: number): string {
  if (value < 32) return String.fromCharCode(value + 63);
  return String.fromCharCode((value % 32) + 32 + 63) + chunks(Math.floor(value / 32));
}

describe("decodePolyline()", () => {
  test("reads the example of the format's description, with five decimals", () => {
    expect(decodePolyline("_p~iF~ps|U_ulLnnqC_mqNvxq`@", 5)?.coordinates).toEqual([
      [-120.2, 38.5],
      [-120.95, 40.7],
      [-126.453, 43.252],
    ]);
  });

  test("reads any line back, even at the ends of the globe", () => {
    const micro = (most: number) => fc.integer({ min: -most, max: most }).map((n) => n / 1e6);
    const line = fc.array(fc.tuple(micro(180e6), micro(90e6)), { minLength: 2, maxLength: 50 });
    fc.assert(
      fc.property(line, (points) => {
        expect(decodePolyline(encodePolyline(points))?.coordinates).toEqual(points);
      }),
    );
  });

  test("refuses a line that is cut off, foreign, off the globe, or not a line", () => {
    for (const text of ["_p~iF", "_p~iF~ps|U_", "é~", "~~~~~~~~~~~~~", "", "??", 5, null]) {
      expect(decodePolyline(text)).toBeNull();
    }
  });
});

describe("stop ids", () => {
  test("of any text can be sent back, and fit the parameter", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const id = encodeStopId(`de_${text}`);
        if (id === null) return;
        expect(stopId.read(id)).toBe(id);
        expect(decodeStopId(id)).toBe(`de_${text}`);
      }),
    );
  });

  test("that a caller makes up are refused without a request", () => {
    for (const made of ["a~", "a~G0", "a~FF"]) expect(decodeStopId(made)).toBeNull();
  });
});

test("degrees() writes every position without an exponent, to the centimetre", () => {
  expect([1e-7, -1e-9, 0.00000004, -180, 52.5, 13.123456789].map(degrees)).toEqual([
    "0.0000001",
    "0",
    "0",
    "-180",
    "52.5",
    "13.1234568",
  ]);
});

test("localTime() shows an instant as clocks do, ahead of UTC and behind it", () => {
  const noon = Date.parse("2026-11-21T12:00:00Z");
  expect(localTime(noon, 3_600)).toBe("2026-11-21T13:00:00+01:00");
  expect(localTime(noon, -12_600)).toBe("2026-11-21T08:30:00-03:30");
  expect(localTime(noon, 20_700)).toBe("2026-11-21T17:45:00+05:45");
  expect(localTime(noon, 0)).toBe("2026-11-21T12:00:00+00:00");
});

test("timeOf() accepts only times with an offset, and completes their seconds", () => {
  expect(offsetTime("2026-11-21T08:00Z")).toBe("2026-11-21T08:00:00Z");
  expect(offsetTime("2026-11-21T08:00:01.5+01:00")).toBe("2026-11-21T08:00:01.5+01:00");
  for (const bad of ["2026-11-21T08:00", "2026-13-21T08:00:00Z", "x", 5, null]) {
    expect(offsetTime(bad)).toBeNull();
  }
});

test("textOrNull() makes one bounded line, never half a character", () => {
  expect(textOrNull("  a\r\n\tb\u001b[31m ")).toBe("a b [31m");
  expect(textOrNull("é".repeat(500), 10)).toBe("é".repeat(10));
  expect(textOrNull("😀".repeat(20), 10)).toBe("😀".repeat(10));
  expect(textOrNull("\ud800x")?.isWellFormed()).toBe(true);
  for (const none of ["", " \n", 5, null, {}]) expect(textOrNull(none)).toBeNull();
});

test("webAddress() accepts addresses that a caller may follow, without credentials", () => {
  const web = ["https:", "http:"];
  expect(webAddress("https://a.example/b?c", web)).toBe("https://a.example/b?c");
  for (const bad of ["javascript:alert(1)", "https://u:p@a.example", "//a", "data:,x", "a b", 5]) {
    expect(webAddress(bad, web)).toBeNull();
  }
});

test("instructionOf() has words for every type of turn, known or not", () => {
  const say = (type: string, more = {}) =>
    instructionOf({ type, modifier: "left", ...more }, "B 2");
  expect(say("turn")).toBe("Turn left onto B 2");
  expect(say("end of road")).toBe("Turn left onto B 2");
  expect(say("turn", { modifier: "uturn" })).toBe("Turn around onto B 2");
  expect(say("turn", { modifier: "straight" })).toBe("Go straight onto B 2");
  expect(say("continue", { modifier: "constructor" })).toBe("Go straight onto B 2");
  expect(say("roundabout", { exit: 2 })).toBe("Take exit 2 of the roundabout onto B 2");
  expect(say("fork", { modifier: "slight right" })).toBe(
    "Keep slightly right at the fork onto B 2",
  );
  expect(say("off ramp")).toBe("Take the ramp left onto B 2");
  expect(say("arrive")).toBe("You have arrived");
  expect(instructionOf({ type: "depart" }, null)).toBe("Start");
});
