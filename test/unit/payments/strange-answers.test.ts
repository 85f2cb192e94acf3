// Tests answers from between us and Stripe: a proxy, a portal, an error page. No such answer counts
// as done, and no key goes to another server.

import { beforeEach, expect, test } from "bun:test";
import { type PaymentProvider, ProviderAway } from "../../../src/payments/provider.ts";
import { createStripeProvider } from "../../../src/payments/providers/stripe-provider.ts";
import { shared } from "../../support/shared.ts";
import { QUICK } from "../../support/stores/payment-lab.ts";

const NOTHING = { object: "list", data: [], has_more: false, url: "/v1/refunds" };

/** The answer to each change, and the servers that got a request. */
const way = { answer: () => Response.json({}), keys: [] as (string | null)[], strangers: 0 };

const stripe = await shared(
  serving((request) => {
    if (request.method === "GET") return Response.json(NOTHING);
    way.keys.push(request.headers.get("idempotency-key"));
    return way.answer();
  }),
);
const stranger = await shared(
  serving(() => {
    way.strangers += 1;
    return Response.json({ id: "cus_of_a_stranger", object: "customer" });
  }),
);

async function serving(answer: (request: Request) => Response) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  const url = new URL(`http://127.0.0.1:${server.port}`);
  return { url, [Symbol.asyncDispose]: () => server.stop(true) };
}

const provider: PaymentProvider = createStripeProvider({
  name: "stripe",
  secretKey: "sk_test_of_nobody",
  webhookSecrets: ["whsec_of_nobody"],
  apiBase: stripe.url,
  returnUrl: "https://farebox.example/",
  automaticTax: false,
  invoices: false,
  now: Date.now,
  patience: QUICK,
});

beforeEach(() => {
  way.keys.length = 0;
  way.strangers = 0;
});

const refund = (key: string) => provider.refund("pi_1", { amount: null, key, attempt: 1 });

const ASKED: Readonly<Record<string, () => Promise<unknown>>> = {
  "a refund": () => refund(crypto.randomUUID()),
  "the removal of a card": () => provider.removeCard("pm_1"),
  "the end of a page": () => provider.endCheckout("cs_1"),
  "a customer": () => provider.createCustomer({ id: "acct_1", email: null }),
};

const json = (body: string, status: number) => () =>
  new Response(body, { status, headers: { "content-type": "application/json" } });

const ANSWERS: Readonly<Record<string, () => Response>> = {
  "503 with a message": json('{"message":"Service Unavailable"}', 503),
  "403 with an error in words": json('{"error":"Forbidden"}', 403),
  "500 with nothing in it": json("{}", 500),
  "300 with nothing in it": json("{}", 300),
  "a text in JSON": json('"Service Unavailable"', 503),
  "200 with an object of somebody else": json('{"status":"ok"}', 200),
  "a number": json("5", 200),
  null: json("null", 200),
  "a list": json("[]", 200),
  "no body": json("", 200),
  "a page": () => new Response("<html>", { status: 200 }),
  "a redirect to another server": () =>
    new Response(null, { status: 307, headers: { location: stranger.url.href } }),
};

for (const [what, answer] of Object.entries(ANSWERS)) {
  test(`${what} is not an answer of Stripe's: nothing counts as done`, async () => {
    way.answer = answer;
    for (const [asked, ask] of Object.entries(ASKED)) {
      way.keys.length = 0;
      const outcome = await ask().catch((error: unknown) => error);
      expect([asked, outcome]).toEqual([asked, expect.any(ProviderAway)]);
      // Repeated once, by the same key.
      expect([way.keys.length, new Set(way.keys).size]).toEqual([2, 1]);
    }
    expect(way.strangers).toBe(0);
  });
}

test("an object of another kind is not an answer of Stripe's: nothing counts as done", async () => {
  way.answer = json('{"id":"acct_1","object":"account"}', 200);
  for (const [asked, ask] of Object.entries(ASKED)) {
    const outcome = await ask().catch((error: unknown) => error);
    expect([asked, outcome]).toEqual([asked, expect.any(ProviderAway)]);
  }
});

test("an error of Stripe's keeps its meaning", async () => {
  way.answer = () =>
    Response.json({ error: { type: "invalid_request_error", message: "no" } }, { status: 400 });
  await expect(refund("refused")).rejects.toThrow("no");
  expect(way.keys).toEqual(["refused"]);
});
