import { expect, test } from "bun:test";
import {
  SCOPES,
  SERVICE_NAMES,
  SERVICES,
  scopeOfService,
  scopesOfSurface,
  scopesOfTier,
  serviceOfScope,
  serviceTitle,
  type TierName,
} from "../../../../src/core/access/services.ts";
import { ERRORS } from "../../../../src/core/errors.ts";
import { DOCUMENTED } from "../../../../src/routes.ts";
import { isPauseTarget } from "../../../../src/store/operators/pauses.ts";

test("each tier has exactly its services of SPEC 8.2", () => {
  const all = ["models", "search", "maps", "mail"] as const;
  const specified = (tier: TierName) =>
    scopesOfTier(tier).filter((scope) => all.some((one) => one === scope));
  expect(specified("free")).toEqual(["models"]);
  expect(specified("starter")).toEqual(["models", "search", "maps"]);
  for (const tier of ["build", "scale", "pro", "enterprise"] as const) {
    expect(specified(tier)).toEqual([...all]);
  }
});

test("a scope of the log becomes the name of its service, and the name becomes the scope", () => {
  expect(SCOPES.map(serviceOfScope)).toEqual([...SERVICE_NAMES]);
  expect(SERVICE_NAMES.map(scopeOfService)).toEqual([...SCOPES]);
  expect([serviceOfScope("account"), scopeOfService("account")]).toEqual(["account", "account"]);
  expect(scopeOfService("toString")).toBe("toString");
  expect(SERVICE_NAMES.map(serviceTitle)).toEqual(
    SERVICE_NAMES.map((name) => SERVICES[name].title),
  );
  expect(serviceTitle("chat")).toBe("Chat");
});

test("Gateway keys can have every scope, application keys only the Models API", () => {
  expect(scopesOfSurface("gateway")).toEqual(SCOPES);
  expect(scopesOfSurface("application")).toEqual(["models"]);
});

test("every service has its own scope, can be paused, and has billed endpoints", () => {
  expect(new Set(SCOPES).size).toBe(SERVICE_NAMES.length);
  for (const name of SERVICE_NAMES) {
    expect(isPauseTarget(name)).toBe(true);
    expect(ERRORS[SERVICES[name].unavailable].status).toBe(503);
    for (const surface of SERVICES[name].surfaces) {
      const own = DOCUMENTED[surface].filter(({ service }) => service === name);
      expect([name, surface, own.some(({ isBilled }) => isBilled)]).toEqual([name, surface, true]);
    }
  }
});
