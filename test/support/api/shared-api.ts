// Shares a world of the API among all tests of a file, and resets its upstreams before each test.

import { afterEach, beforeEach } from "bun:test";
import type { AppDeps } from "../../../src/app.ts";
import type { FakeClock } from "../fakes/fake-clock.ts";
import { shared } from "../shared.ts";
import { type MailWorld, type MailWorldOptions, startMailWorld } from "../stores/mail-world.ts";
import { type ApiOptions, ApiWorld, until } from "./api-world.ts";

/** An API with scripted upstreams. */
export async function sharedApi(options: ApiOptions = {}): Promise<ApiWorld> {
  const api = await shared(ApiWorld.start(options));
  beforeEach(() => api.reset());
  return api;
}

/** An API on a clock of the test. After each test no hold, request or timer may be left. */
export async function sharedApiOn(
  clock: FakeClock,
  options: Partial<AppDeps> = {},
): Promise<ApiWorld> {
  const api = await sharedApi({ ...options, clock });
  afterEach(async () => {
    await until(() => api.openCalls === 0, "every hold was resolved");
    await until(() => api.chat.open === 0, "every upstream request ended");
    await until(() => clock.pending === 0, "every timer was called off");
  });
  return api;
}

/** An API with a mail server, which takes every message again before each test. */
export async function sharedMail(options: MailWorldOptions = {}): Promise<MailWorld> {
  const world = await shared(startMailWorld(options));
  beforeEach(async () => {
    world.smtp.reset();
    await world.api.reset();
  });
  return world;
}
