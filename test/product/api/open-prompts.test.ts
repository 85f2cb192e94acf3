// Tests the limit on an account's prompts in open calls.

import { expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { PROMPT_BYTES_AT_ONCE } from "../../../src/services/chat/open-prompts.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, errorOf, until } from "../../support/api/api-world.ts";
import { pngUrl } from "../../support/api/images.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { closedGate } from "../../support/gate.ts";

const PROMPT_BYTES = 4_000_000;
const ROOM = Math.floor(PROMPT_BYTES_AT_ONCE / PROMPT_BYTES);

const SEEING: ModelEntry = {
  ...MODEL,
  id: "seeing",
  media: { kinds: ["image"], imageBounds: [100], pdfTokensMax: 1, takesAddresses: false },
};
const catalogue = catalogueOf([MODEL, SEEING], []);
const api = await sharedApi({ catalogue: () => catalogue });

function body(stream: boolean): object {
  const messages = [{ role: "user", content: "x".repeat(PROMPT_BYTES) }];
  return chatBody({ messages, stream, max_tokens: 1 });
}

for (const stream of [false, true]) {
  test(`is bounded, keeps no other account out, and ends with it; stream: ${stream}`, async () => {
    const [account, other] = await Promise.all([
      api.account({ contract: "enterprise", paid: "1000" }),
      api.account({ contract: "enterprise", paid: "10" }),
    ]);
    const gate = closedGate();
    const { reply, batches } = api.chat;
    api.chat.reply = async (...call) => {
      await gate.pass();
      return await reply(...call);
    };
    api.chat.batches = async function* (...call) {
      await gate.pass();
      yield* batches(...call);
    };
    const open: Promise<Response>[] = [];
    for (let count = 1; count <= ROOM; count += 1) {
      open.push(api.post(account, body(stream)));
      await until(() => gate.arrivals === count, "the model was asked");
    }
    const refused = await api.post(account, body(stream));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await errorOf(refused)).message).toStartWith("More than 128 MB of prompts are in open");
    const short = api.post(account, chatBody({ stream }));
    const others = api.post(other, body(stream));
    await until(() => gate.arrivals === ROOM + 2, "others were asked");
    gate.open();
    for (const response of await Promise.all([...open, short, others])) {
      expect(response.status).toBe(200);
      await response.text();
    }
    await until(() => api.openCalls === 0, "all calls have ended");
    const again = await api.post(account, body(stream));
    expect(again.status).toBe(200);
    await again.text();
  });
}

for (const stream of [false, true]) {
  test(`is given back by calls that fail and by callers who leave; stream: ${stream}`, async () => {
    const account = await api.account({ contract: "enterprise", paid: "1000" });
    const failure = new ApiError("upstream_unreachable", "The model does not answer");
    for (let count = 0; count <= ROOM; count += 1) {
      api.chat.reply = () => Promise.reject(failure);
      // biome-ignore lint/correctness/useYield: it fails before it has anything
      api.chat.batches = async function* () {
        throw failure;
      };
      expect((await api.post(account, body(stream))).status).toBe(502);
    }
    for (let count = 0; count <= ROOM; count += 1) {
      const gate = closedGate();
      const caller = new AbortController();
      api.chat.reply = async () => {
        await gate.pass();
        throw failure;
      };
      // biome-ignore lint/correctness/useYield: its caller leaves before the first token
      api.chat.batches = async function* () {
        await gate.pass();
      };
      const left = api.post(account, body(stream), { signal: caller.signal }).catch(() => null);
      await until(() => gate.arrivals === 1, "the model was asked");
      caller.abort();
      gate.open();
      await left;
      await until(() => api.openCalls === 0, "the call has ended");
    }
  });
}

test("counts the bytes of images, of which a hold counts only their tokens", async () => {
  const account = await api.account({ contract: "enterprise", paid: "10" });
  const gate = closedGate();
  const { reply } = api.chat;
  api.chat.reply = async (...call) => {
    await gate.pass();
    return await reply(...call);
  };
  const url = pngUrl(9, 9, 22_500_000);
  const content = [{ type: "image_url", image_url: { url } }];
  const seeing = chatBody({ model: SEEING.id, messages: [{ role: "user", content }] });
  const fitting = Math.floor(PROMPT_BYTES_AT_ONCE / url.length);
  const open: Promise<Response>[] = [];
  for (let count = 1; count <= fitting; count += 1) {
    open.push(api.post(account, seeing));
    await until(() => gate.arrivals === count, "the model was asked");
  }
  const refused = await api.post(account, seeing);
  expect([refused.status, fitting]).toEqual([429, 4]);
  gate.open();
  for (const response of await Promise.all(open)) expect(response.status).toBe(200);
});
