// `npm run walk`: from an empty machine to a paying customer of another brand, as the pages tell an
// operator and a customer (docs/first-hour.md). The walk prints the seconds of each step, and ends
// with 1 where one is not as it was promised (D-331). Payments are those of the sandbox.

import { ensureChromium } from "../test/support/product/chromium.ts";
import { sleep } from "./local/processes.mjs";
import { EmptyMachine } from "./walk/empty-machine.ts";
import { type ModelServer, startModelServer } from "./walk/model-server.ts";
import {
  becomeOperator,
  makeKey,
  openPeople,
  type People,
  pay,
  seeFrontPage,
  seeTicket,
  whatTheySee,
} from "./walk/people.ts";

const BRAND = "Kettle";
const OPERATOR = "ada@kettle.example";
const CUSTOMER = "bob@customer.example";
const PAID_USD = "25";
const RECEIPT_TRIES_MAX = 60;
const RECEIPT_WAIT_MS = 1_000;

const startedMs = performance.now();
let lastMs = startedMs;

/** Prints a step that has ended: the seconds since the start, and those of the step. */
function done(what: string): void {
  const nowMs = performance.now();
  const [all, own] = [nowMs - startedMs, nowMs - lastMs].map((ms) => (ms / 1_000).toFixed(1));
  console.log(`${all?.padStart(7)} s  +${own?.padStart(5)} s  ${what}`);
  lastMs = nowMs;
}

async function walk(chromium: string): Promise<void> {
  using models = startModelServer();
  await using machine = await EmptyMachine.open();
  await machine.clone();
  done("a fresh clone, an empty HOME, no services");
  await machine.start();
  done("npm start has installed what it needs, and serves");
  const link = await setUp(machine, models);
  await sell(machine, models);
  await machine.stop();
  await machine.start();
  done("started again with the key of the provider");
  await using people = await openPeople(chromium, { origin: machine.origin, link });
  try {
    await serve(machine, people, { link, model: models.model });
  } catch (error) {
    console.error(await whatTheySee(people));
    throw error;
  }
}

/** Answers the questions of the setup by a file; returns the link of the first operator. */
async function setUp(machine: EmptyMachine, models: ModelServer): Promise<string> {
  const answers = {
    brand_name: BRAND,
    support_email: "help@kettle.example",
    providers: "openai-compatible",
    openai_compatible_base_url: models.baseUrl,
    openai_compatible_key: models.key,
    operator_email: OPERATOR,
  };
  const file = machine.write("answers.json", JSON.stringify(answers));
  const said = await machine.farebox("setup", "--answers", file);
  done(`farebox setup: the brand ${BRAND}, a provider whose key works, and an operator`);
  for (const line of said.left_to_do as readonly string[])
    console.log(`${" ".repeat(21)}- ${line}`);
  return (said.operator as { readonly link: string }).link;
}

/** Adds a model with its price to the file, and puts the file in force. */
async function sell(machine: EmptyMachine, { model }: ModelServer): Promise<void> {
  const entry = {
    id: model,
    label: "Kettle Large",
    family: "kettle",
    owned_by: "kettle",
    context_length: 8_000,
    pricing: [{ input_usd_per_m: "300", output_usd_per_m: "600" }],
    routes: [{ provider: "openai-compatible", model }],
  };
  const file = machine.configure((before) => ({ ...before, models: [entry] }));
  await machine.farebox("config", "apply", file, "--dry-run");
  await machine.farebox("config", "apply", file, "--note", "First prices");
  done(`a model with its price is in the file, and the file in force`);
}

async function serve(
  machine: EmptyMachine,
  { operator, customer }: People,
  { link, model }: { readonly link: string; readonly model: string },
): Promise<void> {
  await seeFrontPage(customer, [BRAND, "$300.00"]);
  done(`the front page is ${BRAND}'s, with the price of the model`);
  await becomeOperator(operator, link);
  done("the operator has made a passkey, and sees the accounts");
  const account = await customer.signUp(CUSTOMER);
  done("a customer has signed up, by the link of the mail");
  await pay(customer, account, PAID_USD);
  done(`the customer has paid $${PAID_USD} by a card of the sandbox`);
  const key = await makeKey(customer, account);
  done("the customer has made a key");
  const paid = await call(machine, key, model);
  done(`a call to ${model} is paid: $${paid.costUsd}`);
  const shown = await seeTicket(customer, account, paid.requestId);
  if (Number(shown.replace("$", "")) !== Number(paid.costUsd)) {
    throw new Error(`The ticket has ${shown}, and the answer $${paid.costUsd}`);
  }
  done(`the customer sees the ticket of the call: ${shown}`);
  await verifyReceipt(machine, key, paid.requestId);
  done("the signed receipt of the call is valid");
  await operator.page.goto(`${operator.base}/operator`);
  await operator.page.getByRole("row", { name: new RegExp(account) }).waitFor();
  done("the operator sees the customer's account");
  const { difference } = await machine.farebox("audit");
  if (difference !== null) throw new Error(`The audit found ${JSON.stringify(difference)}`);
  done("the audit finds no difference");
  const complaints = [...operator.complaints, ...customer.complaints];
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
}

async function call({ origin }: EmptyMachine, key: string, model: string) {
  const messages = [{ role: "user", content: "When does water boil?" }];
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages }),
  });
  const text = await response.text();
  const costUsd = response.headers.get("x-svc-cost-usd");
  const requestId = response.headers.get("x-request-id");
  if (!response.ok || costUsd === null || requestId === null || Number(costUsd) === 0) {
    throw new Error(`The call was not paid: ${response.status} ${text}`);
  }
  return { costUsd, requestId };
}

/** Fetches the receipt of a call once the call is final, and verifies it offline. */
async function verifyReceipt(machine: EmptyMachine, key: string, requestId: string) {
  const { origin } = machine;
  const headers = { authorization: `Bearer ${key}` };
  for (let tries = 0; tries < RECEIPT_TRIES_MAX; tries += 1) {
    const response = await fetch(`${origin}/v1/receipts/${requestId}`, { headers });
    const text = await response.text();
    if (response.ok) {
      const keys = await (await fetch(`${origin}/.well-known/jwks.json`)).text();
      const files = [
        machine.write("receipt.json", text),
        machine.write("keys.json", keys),
      ] as const;
      await machine.farebox("receipt", "verify", files[0], "--keys", files[1]);
      return;
    }
    if (response.status !== 409) throw new Error(`No receipt: ${response.status} ${text}`);
    await sleep(RECEIPT_WAIT_MS);
  }
  throw new Error(`The call ${requestId} has no receipt after ${RECEIPT_TRIES_MAX} s`);
}

const chromium = ensureChromium();
if (chromium === null) {
  console.error("The walk needs Chromium, which is not installed.");
  process.exitCode = 1;
} else {
  await walk(chromium);
}
