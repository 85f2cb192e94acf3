// Tests the requests of the fuzzer: the same for the same seed, for every endpoint, and mostly of
// the right shape.

import { expect, test } from "bun:test";
import { AGENTS, APPLICATION, GATEWAY, PROGRAM } from "../../../src/routes.ts";
import { misfit } from "../../support/api/contract.ts";
import { Random } from "../../support/random.ts";
import { commandOf, type FuzzRequest, wireOf } from "./fuzz-request.ts";
import { labelOf, RequestMaker } from "./request-maker.ts";
import { valueFor } from "./schema-values.ts";

const OPTIONS = {
  goodKeys: { gateway: ["KNOWN_rich"], application: ["KNOWN_plan"] },
  otherKeys: ["KNOWN_poor"],
  known: { model: ["ok"], id: ["ok"] },
};
const SECRETS = new Map([["KNOWN_rich", "the key"]]);
const SOME = 8_000;

function requests(seed: number): FuzzRequest[] {
  const maker = new RequestMaker({ ...OPTIONS, seed });
  return Array.from({ length: SOME }, (_, number) => maker.make(number));
}

test("a seed makes the same requests again, in any order; another seed makes others", () => {
  const all = requests(7);
  expect([new RequestMaker({ ...OPTIONS, seed: 7 }).make(1_234)]).toEqual(all.slice(1_234, 1_235));
  const others = requests(8).map((request) => wireOf(request, SECRETS).toString("latin1"));
  const same = all.filter((one, at) => wireOf(one, SECRETS).toString("latin1") === others[at]);
  expect(same.length).toBeLessThan(SOME / 50);
});

test("every endpoint gets requests, and documented ones get most", () => {
  const counts = new Map<string, number>();
  for (const { endpoint } of requests(7)) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  for (const endpoint of PROGRAM) expect(counts.get(labelOf(endpoint))).toBeGreaterThan(0);
  const documented = [...GATEWAY, ...AGENTS, ...APPLICATION];
  // At least half of an equal share of all requests.
  const least = SOME / (2 * documented.length);
  for (const endpoint of documented) {
    expect([endpoint.path, (counts.get(labelOf(endpoint)) ?? 0) > least]).toEqual([
      endpoint.path,
      true,
    ]);
  }
});

test("a value that is made from a body's schema fits it", () => {
  const random = new Random(7);
  for (const { body } of [...GATEWAY, ...AGENTS, ...APPLICATION]) {
    if (body === undefined) continue;
    for (let made = 0; made < 300; made += 1) {
      const optionalShare = random.next();
      const value = valueFor(body.schema, "", { random, known: new Map(), optionalShare });
      expect(misfit(body.schema, value)).toBeNull();
    }
  }
});

test("a request is printed as a command that sends its bytes", async () => {
  const small = requests(7).filter((request) => wireOf(request, new Map()).length < 2_000);
  const odd = small.filter(({ target, body }) => {
    return target.includes("%") || (body ?? []).some((byte) => byte < 32 || byte > 126);
  });
  expect(odd.length).toBeGreaterThan(20);
  for (const request of odd.slice(0, 20)) {
    const [command = ""] = commandOf(request).split(" | nc ");
    const printed = await Bun.$`sh -c ${command}`.quiet();
    expect(printed.stdout.toString("latin1")).toBe(wireOf(request, new Map()).toString("latin1"));
  }
});
