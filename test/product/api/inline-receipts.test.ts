// Tests of receipts in replies: whoever asks by header gets the receipt of the call with its reply,
// in the last frame of a stream, and it is the one that is issued from then on.

import { beforeEach, describe, expect, test } from "bun:test";
import { SCOPES } from "../../../src/core/access/services.ts";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { AwaitedReceipts } from "../../../src/readings/signed/awaited-receipts.ts";
import type { SignedReceipt } from "../../../src/readings/signed/signed-receipts.ts";
import { chatBody, errorOf, RECEIPT_KEY } from "../../support/api/api-world.ts";
import { EXAMPLE_CATALOGUE } from "../../support/api/example-models.ts";
import { flushing } from "../../support/api/flushing.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { endBatch, textBatch } from "../../support/fakes/scripted-chat.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi({ catalogue: () => EXAMPLE_CATALOGUE });
const { stores } = api.parts;
const ASKED = { headers: { "x-svc-receipt": "inline" } } as const;
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };

interface Svc {
  readonly request_id: string;
  readonly cost_usd: number;
  readonly receipt?: string | null;
}

interface Door {
  readonly path: string;
  readonly body: object;
  readonly surface?: "application";
}

const CHAT = chatBody({ max_tokens: 20 });
const MESSAGE = { ...CHAT, max_tokens: 20 };
const RESPONSE = { model: MODEL.id, input: "Hello" };
const STREAMS: readonly Door[] = [
  { path: "/v1/chat/completions", body: CHAT },
  { path: "/v1/chat/completions", body: { ...CHAT, stream_options: { include_usage: true } } },
  { path: "/v1/messages", body: MESSAGE },
  { path: "/v1/responses", body: RESPONSE },
  { path: "/v1/completions", body: { model: MODEL.id, prompt: "Hello" } },
  { path: "/api/v1/chat/completions", body: CHAT, surface: "application" },
  { path: "/api/v1/messages", body: MESSAGE, surface: "application" },
  { path: "/api/v1/responses", body: RESPONSE, surface: "application" },
];
const REPLIES: readonly Door[] = [
  ...STREAMS.filter(({ body }) => !("stream_options" in body)),
  { path: "/v1/search", body: { query: "fares" } },
];

beforeEach(() => {
  api.chat.batches = async function* () {
    yield textBatch("Hello");
    yield endBatch(USAGE);
  };
});

const open = (surface?: "application"): Promise<TestAccount> =>
  surface === undefined
    ? api.account({ contract: "enterprise", paid: "5", scopes: SCOPES })
    : api.account({ surface, plan: "max", paid: "5" });

/** The last `svc` in the frames of a stream, or the one of a reply. */
async function svcIn(response: Response): Promise<Svc> {
  expect(response.status).toBe(200);
  const text = await response.text();
  const frames = text.startsWith("{") ? [text] : framesOf(text);
  const found = frames.flatMap((frame) => {
    const { svc, response: whole } = JSON.parse(frame);
    return svc ?? whole?.svc ?? [];
  });
  return found.at(-1) as Svc;
}

function framesOf(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => line.slice("data: ".length));
}

async function mustBeIssued({ path, surface }: Door, account: TestAccount, svc: Svc) {
  const { receipt = null } = svc;
  if (receipt === null) throw new Error(`${path} gave no receipt`);
  const { jti, sub, receipt: said } = await verifyReceipt(receipt, [RECEIPT_KEY.publicJwk]);
  expect([jti, sub, said.number]).toEqual([svc.request_id, account.id, 1]);
  expect(Number(said.cost_usd)).toBe(svc.cost_usd);
  expect(svc.cost_usd).toBeGreaterThan(0);
  const base = surface === undefined ? "/v1" : "/api/v1";
  const issued = await api.get(`${base}/receipts/${svc.request_id}`, account);
  expect(((await issued.json()) as { jws: string }).jws).toBe(receipt);
}

test("receipts of many calls are issued a few at a time, and each gets its own", async () => {
  const account = await open();
  const answers = Array.from(
    { length: 24 },
    async () => await svcIn(await api.post(account, CHAT)),
  );
  const requests = (await Promise.all(answers)).map(({ request_id }) => request_id);
  await stores.flush();
  let [issuing, most] = [0, 0];
  const receipts = {
    of: async ({ request }: { readonly request: string }) => {
      issuing += 1;
      most = Math.max(most, issuing);
      // Whatever else could be issued at the same time begins meanwhile.
      await stores.database.sql`SELECT`;
      issuing -= 1;
      return { jws: request } as SignedReceipt;
    },
  };
  const { database } = stores;
  const awaited = new AwaitedReceipts({ database, clock: realClock, receipts, log: silent });
  const identity = { accountId: account.id, keyId: account.keyId, bucket: account.bucket };
  const { signal } = new AbortController();
  const given = requests.map((requestId) => awaited.whenFinal({ requestId, identity, signal }));
  expect(await Promise.all(given)).toEqual(requests);
  expect(most).toBeLessThanOrEqual(4);
});

describe("a receipt in the reply", () => {
  for (const door of STREAMS) {
    const { path, body, surface } = door;
    const about = "stream_options" in body ? " with a frame of usage" : "";
    test(`is in the last frame of a stream of ${path}${about}`, async () => {
      const account = await open(surface);
      const streamed = { ...body, stream: true };
      const svc = await flushing(stores, async () =>
        svcIn(await api.postTo(path, account, streamed, ASKED)),
      );
      await mustBeIssued(door, account, svc);
    });
  }

  for (const door of REPLIES) {
    test(`is in svc of ${door.path}`, async () => {
      const account = await open(door.surface);
      const { path, body } = door;
      const svc = await flushing(stores, async () =>
        svcIn(await api.postTo(path, account, body, ASKED)),
      );
      await mustBeIssued(door, account, svc);
    });
  }

  test("is the same in the repeat of a call with an idempotency key", async () => {
    const account = await open();
    const headers = { ...ASKED.headers, "idempotency-key": "order-1" };
    const [first, repeat] = await flushing(stores, async () => {
      const one = await api.post(account, CHAT, { headers });
      return [await one.text(), await (await api.post(account, CHAT, { headers })).text()];
    });
    expect(repeat).toBe(first);
    expect(first).toContain('"receipt":"ey');
  });

  test("is not there unless it is asked for", async () => {
    const account = await open();
    const whole = await svcIn(await api.post(account, CHAT));
    const streamed = await svcIn(await api.post(account, { ...CHAT, stream: true }));
    expect([whole, streamed].map((svc) => "receipt" in svc)).toEqual([false, false]);
  });

  test("is null if the call is not final in time, and issued later", async () => {
    const account = await open();
    const svc = await svcIn(await api.post(account, { ...CHAT, stream: true }, ASKED));
    expect(svc.receipt).toBeNull();
    expect(svc.cost_usd).toBeGreaterThan(0);
    await stores.flush();
    const path = `/v1/receipts/${svc.request_id}`;
    expect((await api.get(path, account)).status).toBe(200);
  });

  test("keeps no balance: nothing is held while a call waits for it", async () => {
    const account = await open();
    const asking = api.post(account, { ...CHAT, stream: true }, ASKED);
    const text = (await asking).text();
    await flushing(stores, async () => {
      await text;
    });
    const { heldPaid, openCalls } = await api.view(account);
    expect([Number(heldPaid), openCalls]).toEqual([0, 0]);
  });

  test("asked for in another way is refused, and nothing is charged", async () => {
    const account = await open();
    const headers = { "x-svc-receipt": "yes" };
    const refused = await api.post(account, CHAT, { headers });
    const { code, message } = await errorOf(refused);
    expect([refused.status, code]).toEqual([400, "invalid_parameter"]);
    expect(message).toContain("x-svc-receipt");
    expect(api.chat.requests).toEqual([]);
  });
});
