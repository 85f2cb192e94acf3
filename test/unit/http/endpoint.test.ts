// Tests the frame of a call, over HTTP and with real stores, when its parts fail.

import { beforeEach, describe, expect, test } from "bun:test";
import { AnonymousWindow } from "../../../actors/anonymous-window.ts";
import { withoutCost } from "../../../src/calls/account.ts";
import { DEFAULT_RUN_RULES } from "../../../src/core/access/runs.ts";
import { ApiError } from "../../../src/core/errors.ts";
import type { Answer } from "../../../src/http/answer.ts";
import { BodyShares } from "../../../src/http/body/body-shares.ts";
import { jsonBody } from "../../../src/http/body/json-body.ts";
import { createClientInfo } from "../../../src/http/client-info.ts";
import { type EndpointContext, endpoint } from "../../../src/http/endpoint.ts";
import type { FrameDeps, RawRequest } from "../../../src/http/frame.ts";
import { KeptAnswers } from "../../../src/http/kept-answers.ts";
import { named, shortText } from "../../../src/http/schema.ts";
import { LISTEN_OPTIONS, type RequestServer } from "../../../src/http/server.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { random } from "../../support/random.ts";
import { atEnd, shared } from "../../support/shared.ts";
import { keyDirectory, openAccount, openWorld, WORLD_PEPPER } from "../../support/stores/world.ts";

const RUN_MS = 30;
const PROVIDER_MS = 20;
const ANSWER_MS = 5;

const world = await shared(openWorld());
/** The account's window is wider than that of callers without a key. */
const account = await openAccount(world, { contract: "enterprise", paid: "10" });
const WINDOW = "10000";
const clock = new FakeClock();
/** Each change of the connection's idle limit, and each value of the meter. */
const idleSeconds: number[] = [];
const metered: unknown[] = [];

/** The parts of the endpoint that a test can make fail. */
type Part = "precheck" | "prepare" | "run" | "work" | "answer";
const faults = new Map<Part, () => void>();
const enter = (part: Part) => faults.get(part)?.();

const deps: FrameDeps = {
  surface: "gateway",
  calls: {
    accounts: world.accounts,
    clock,
    log: silent,
    meter: {
      own: (seconds) => void metered.push(seconds),
      refused: (code) => void metered.push(code),
      replayed: () => {},
      streamCut: () => {},
    },
  },
  pauses: { isPaused: () => false },
  keys: keyDirectory(world.database, WORLD_PEPPER),
  anonymous: new AnonymousWindow(world.accounts.scripts),
  bodies: new BodyShares(),
  answers: new KeptAnswers({ clock, random }),
  runRules: () => DEFAULT_RUN_RULES,
  random,
  keyPeppers: [WORLD_PEPPER],
  clientIp: () => "127.0.0.1",
  clientInfo: createClientInfo({ ipHashSecret: () => WORLD_PEPPER, windowSecret: WORLD_PEPPER }),
};

const probe = endpoint({
  id: "probe",
  surface: "gateway",
  method: "POST",
  path: "/probe",
  service: null,
  access: "key",
  isBilled: false,
  summary: "Try the frame",
  body: jsonBody(named("Probe", { text: shortText(9) }), { bytesMax: 100 }),
  reply: named("ProbeReply", {}),
  errors: [],
  examples: [],
  precheck: async () => enter("precheck"),
  prepare({ text }: { readonly text: string }) {
    enter("prepare");
    return text;
  },
  run({ deps: { calls }, call }: EndpointContext<FrameDeps>, text) {
    enter("run");
    const answer = async () => {
      enter("work");
      clock.advance(RUN_MS);
      call.upstreamMs += PROVIDER_MS;
      return text;
    };
    return withoutCost(calls, call, { service: "account", answer });
  },
  answer(_context, _, text): Answer {
    enter("answer");
    clock.advance(ANSWER_MS);
    return { json: JSON.stringify({ text }) };
  },
});

const server = Bun.serve({
  ...LISTEN_OPTIONS,
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request, bun) => probe.answer(deps, { request, server: noting(bun) } as RawRequest),
});
atEnd(() => server.stop(true));

function noting(bun: RequestServer): RequestServer {
  return {
    requestIP: (request) => bun.requestIP(request),
    timeout(request, seconds) {
      idleSeconds.push(seconds);
      bun.timeout(request, seconds);
    },
  };
}

const call = (body = '{"text":"a"}') =>
  fetch(server.url, { method: "POST", headers: { authorization: `Bearer ${account.key}` }, body });

beforeEach(() => {
  faults.clear();
  idleSeconds.length = 0;
  metered.length = 0;
});

const throws = (error: unknown) => () => {
  throw error;
};
const OWN = [(RUN_MS + ANSWER_MS - PROVIDER_MS) / 1_000];
const { idleTimeout } = LISTEN_OPTIONS;

test("a call's own time has the answer's making, not the wait for a provider", async () => {
  const response = await call();
  expect(await response.json()).toEqual({ text: "a" });
  expect(response.headers.get("x-ratelimit-limit-requests")).toBe(WINDOW);
  expect(metered).toEqual(OWN);
});

describe("a connection may be idle without a limit", () => {
  const QUIET_MS = 60_000;
  const waits = () => clock.advance(QUIET_MS);

  test("once a call has run for a minute, until its answer begins", async () => {
    let before: number[] = [];
    let meanwhile: number[] = [];
    faults.set("prepare", () => {
      waits();
      before = [...idleSeconds];
    });
    faults.set("work", waits);
    faults.set("answer", () => {
      meanwhile = [...idleSeconds];
    });
    await call();
    expect([before, meanwhile]).toEqual([[], [0]]);
    expect(idleSeconds).toEqual([0, idleTimeout]);
  });

  test("but not because of a call that is answered earlier", async () => {
    faults.set("work", () => clock.advance(QUIET_MS - RUN_MS - ANSWER_MS - 1));
    await call();
    clock.advance(QUIET_MS);
    expect(idleSeconds).toEqual([]);
  });

  for (const part of ["run", "work", "answer"] as const) {
    test(`until the end of a call that fails in its ${part}`, async () => {
      faults.set(part, () => {
        waits();
        throws(new TypeError("A bug"))();
      });
      expect((await call()).status).toBe(500);
      expect(idleSeconds).toEqual([0, idleTimeout]);
    });
  }

  test("but not because of a call that is refused for its input", async () => {
    expect((await call('{"text":1}')).status).toBe(400);
    expect(idleSeconds).toEqual([]);
  });
});

describe("an error thrown in a call's", () => {
  // Before it runs, a refused call is counted; a refusal by `run` itself would not be.
  for (const part of ["precheck", "prepare", "work", "answer"] as const) {
    test(`${part} is answered if it is a refusal, with the account's window`, async () => {
      faults.set(part, throws(new ApiError("invalid_parameter", "No")));
      const response = await call();
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "invalid_parameter" } });
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe(WINDOW);
      expect(metered).toEqual(["invalid_parameter"]);
    });
  }

  for (const part of ["precheck", "prepare", "run", "work", "answer"] as const) {
    for (const odd of [new TypeError("A bug"), "a text", undefined]) {
      test(`${part} is a fault of ours if it is ${odd}, and nothing stays held`, async () => {
        faults.set(part, throws(odd));
        const response = await call();
        expect(response.status).toBe(500);
        expect(await response.json()).toMatchObject({ error: { code: "internal_error" } });
        expect(metered).toEqual(["internal_error"]);
        expect(world.accounts.openCalls).toBe(0);
      });
    }
  }
});
