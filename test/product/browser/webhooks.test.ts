// Tests the page of webhooks in a real browser, against the real product with its worker and a
// receiver over HTTP.

import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { eventually } from "../../support/eventually.ts";
import { sharedStage } from "../../support/product/browser-stage.ts";
import { startReceiver } from "../../support/stores/webhook-lab.ts";

const { canRun, ...stage } = await sharedStage({ WEBHOOK_ALLOW_PRIVATE: "true" });
const { visitor: ada, account } = await stage.person("ada@example.com");
const receiver = startReceiver();

describe.skipIf(!canRun)("the page of webhooks", () => {
  let secret = "";

  test("adds a webhook and shows its secret once", async () => {
    await ada.go(`${account}/webhooks`);
    await ada.sees("No webhooks yet");
    await ada.inspect("webhooks-none");
    await ada.button("Add a webhook").first().click();
    const dialog = ada.page.getByRole("dialog");
    await dialog.getByLabel(/^Address/).fill("https://u:p@hooks.example/");
    await dialog.getByLabel("payment.succeeded").check();
    await dialog.getByLabel("topup.succeeded").check();
    await dialog.getByRole("button", { name: "Add a webhook" }).click();
    await ada.sees(/url must not contain a name or a password/);
    await dialog.getByLabel(/^Address/).fill(receiver.url);
    await ada.inspect("webhooks-add");
    await dialog.getByRole("button", { name: "Add a webhook" }).click();
    await ada.sees("The secret of your webhook");
    secret = await ada.text(ada.page.getByRole("dialog").locator("pre"));
    expect(secret).toMatch(/^whsec_/);
    await ada.inspect("webhooks-secret");
    await ada.button("I have stored it").click();
    await ada.sees(receiver.url);
    expect(await ada.page.content()).not.toContain(secret);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("sends a test event, which the receiver verifies and the log shows", async () => {
    await ada.button(/^Test/).click();
    await ada.sees("A test event is on its way.");
    await eventually("the receiver got it", () => receiver.got.length === 1);
    const [got] = receiver.got;
    expect(new Webhook(secret).verify(got?.body ?? "", { ...got?.headers })).toMatchObject({
      type: "webhook.test",
    });
    await ada.page.reload();
    await ada.page.getByRole("row", { name: /webhook\.test.*Delivered/ }).waitFor();
    await ada.inspect("webhooks-log");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  /** The receiver answers a test event with 410, and the service disables the webhook. */
  async function refuseEvent(): Promise<void> {
    receiver.answer = () => new Response(null, { status: 410 });
    await ada.button(/^Test/).click();
    await ada.sees("disabled: it answered 410");
    await ada.page
      .getByRole("row", { name: /webhook\.test.*Failed.*410/ })
      .first()
      .waitFor();
    receiver.answer = () => new Response(null, { status: 204 });
  }

  /** Enables the webhook by its dialog; its event is old enough then to be sent again. */
  async function enable(look: () => Promise<void> = async () => {}): Promise<void> {
    await ada.button(/^Change/).click();
    await ada.page.getByLabel("Send events to it").check({ force: true });
    await look();
    await ada.button("Save").click();
    await ada.sees("The webhook is changed.");
    await stage.running.product.operator.database.sql`
      UPDATE webhook_deliveries SET started_at = started_at - interval '2 minutes'`;
  }

  test("shows a failure, and sends the event again by a button", async () => {
    await refuseEvent();
    await enable(() => ada.inspect("webhooks-change"));
    const before = receiver.got.length;
    await ada.page
      .getByRole("row", { name: /webhook\.test.*Failed/ })
      .getByRole("button", { name: /^Send again/ })
      .click();
    await eventually("it was sent again", () => receiver.got.length === before + 1);
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("sends all events that failed again by one button, each with its id", async () => {
    await refuseEvent();
    await enable();
    const before = receiver.got.length;
    await ada.button(/^Change/).click();
    await ada.button("Send failed events again").click();
    await ada.sees("Send failed events again?");
    await ada.inspect("webhooks-replay");
    await ada.button("Send failed events again").click();
    await ada.sees("1 event is sent again.");
    await eventually("it was sent again", () => receiver.got.length === before + 1);
    const [refused, again] = receiver.got.slice(-2).map(({ json }) => json.id);
    expect(again).toMatch(/^evt_/);
    expect(again).toBe(refused ?? "");
    expect(ada.complaints.splice(0)).toEqual([]);
  });

  test("rotates a secret and deletes the webhook", async () => {
    await ada.button(/^Change/).click();
    await ada.button("Rotate the secret").click();
    await ada.button("Rotate the secret").click();
    await ada.sees("The secret of your webhook");
    const next = await ada.text(ada.page.getByRole("dialog").locator("pre"));
    expect(next).not.toBe(secret);
    await ada.button("I have stored it").click();
    await ada.button(/^Change/).click();
    await ada.button("Delete").click();
    await ada.sees("Delete the webhook?");
    await ada.button("Delete").click();
    await ada.sees("No webhooks yet");
    expect(ada.complaints.splice(0)).toEqual([]);
  });
});
