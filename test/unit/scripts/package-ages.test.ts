// Tests which versions of packages are refused for their age.

import { expect, test } from "bun:test";
import { addedVersions, tooYoung } from "../../../scripts/release/package-ages.ts";

const lock = (packages: Readonly<Record<string, object>>) =>
  JSON.stringify({ packages: { "": { version: "1.0.0" }, ...packages } });
const NOW = new Date("2026-12-10T12:00:00Z");

test("only versions that the earlier lock file lacks are looked up, each once", () => {
  const earlier = lock({ "node_modules/a": { version: "1.0.0" } });
  const present = lock({
    "node_modules/a": { version: "1.0.0" },
    "node_modules/@s/b": { version: "2.0.0" },
    "node_modules/c/node_modules/a": { version: "1.1.0" },
    "node_modules/d/node_modules/a": { version: "1.1.0" },
    "node_modules/alias": { name: "e", version: "5.0.0" },
  });
  expect(addedVersions(earlier, present)).toEqual([
    { name: "@s/b", version: "2.0.0" },
    { name: "a", version: "1.1.0" },
    { name: "e", version: "5.0.0" },
  ]);
});

test("a version younger than three days is refused by name, an older one is taken", async () => {
  const times: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    old: { "1.0.0": "2026-12-07T12:00:00Z" },
    young: { "1.0.0": "2026-12-07T12:00:01Z" },
  };
  const versions = ["old", "young", "gone"].map((name) => ({ name, version: "1.0.0" }));
  const lines = await tooYoung(versions, NOW, async (name) => times[name] ?? {});
  expect(lines).toEqual([
    "young@1.0.0 was published 2026-12-07T12:00:01Z: wait until it is 3 days old",
    "gone@1.0.0 is not in the registry",
  ]);
});
