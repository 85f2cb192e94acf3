import { expect, test } from "bun:test";
import { newId } from "../../../../src/core/ids.ts";
import { accountName, mailCost, retryDelayMs, senderAddress } from "../../../../src/core/mail.ts";
import { usd } from "../../../../src/core/money/money.ts";
import { seal, unseal } from "../../../../src/core/sealed.ts";
import { bounceAddress, bouncedMessage } from "../../../../src/services/mail/bounce-address.ts";
import { random } from "../../../support/random.ts";

test("seal() lets only its own key and label open the sealed text", () => {
  const sealed = seal("Größe ≠ 0", "msg_1", random);
  expect(unseal(sealed, "msg_1")).toBe("Größe ≠ 0");
  expect(unseal(sealed, "msg_2")).toBeNull();
  expect(unseal({ ...sealed, key: seal("x", "msg_1", random).key }, "msg_1")).toBeNull();
  const changed = Uint8Array.from(sealed.box);
  changed[14] = (changed[14] ?? 0) ^ 1;
  expect(unseal({ ...sealed, box: changed }, "msg_1")).toBeNull();
  expect(unseal({ ...sealed, box: sealed.box.slice(0, 20) }, "msg_1")).toBeNull();
  expect(Buffer.from(sealed.box).includes("Gr")).toBe(false);
});

test("seal() never uses a key or a nonce twice", () => {
  const [one, other] = [seal("a", "m", random), seal("a", "m", random)];
  expect(Buffer.from(one.key).equals(other.key)).toBe(false);
  expect(Buffer.from(one.box).equals(other.box)).toBe(false);
});

test("a return path leads to its message, in any case, and only if we signed it", () => {
  const id = newId("message", random);
  const address = bounceAddress(id, "secret", "b.test");
  expect(address.indexOf("@")).toBeLessThanOrEqual(64);
  expect(bouncedMessage(address, ["secret"], "b.test")).toBe(id);
  expect(bouncedMessage(address.toUpperCase(), ["secret"], "b.test")).toBe(id);
  expect(bouncedMessage(address, ["another"], "b.test")).toBeNull();
  expect(bouncedMessage(address, ["secret"], "c.test")).toBeNull();
  const other = bounceAddress(newId("message", random), "secret", "b.test");
  const mixed = address.slice(0, 39) + other.slice(39);
  expect(bouncedMessage(mixed, ["secret"], "b.test")).toBeNull();
  expect(bouncedMessage("bounce@b.test", ["secret"], "b.test")).toBeNull();
});

test("a message costs $0.0010 and $0.0005 for each recipient, nothing without one", () => {
  expect([0, 1, 2, 500].map(mailCost)).toEqual(["0", "0.0015", "0.002", "0.251"].map(usd));
});

test("attempts come ever later, and many fit into a day", () => {
  const delays = Array.from({ length: 12 }, (_, i) => retryDelayMs(i + 1));
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(delays[0]).toBeLessThanOrEqual(15_000);
  expect(delays.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(86_400_000);
});

test("an account's sender is its own, and permanent", () => {
  const sender = senderAddress("acct_1", "mail.test");
  expect(sender).toMatch(/^[a-z2-7]{16}@mail\.test$/);
  expect(senderAddress("acct_1", "mail.test")).toBe(sender);
  expect(senderAddress("acct_2", "mail.test")).not.toBe(sender);
  expect(accountName("Example.org", sender)).toBe("example.org");
  expect(accountName(null, sender)).toBe(sender);
});
