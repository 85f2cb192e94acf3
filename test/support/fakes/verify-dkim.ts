import { createVerify, type KeyObject } from "node:crypto";

/** Verifies a DKIM signature (RFC 6376, relaxed/relaxed) without the library that signed it. */
export function verifyDkim(raw: string, key: KeyObject) {
  const split = raw.indexOf("\r\n\r\n");
  const fields = raw.slice(0, split).split(/\r\n(?![ \t])/);
  const field = (name: string) =>
    fields.findLast((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`)) ?? "";
  const signature = field("DKIM-Signature");
  const tags = Object.fromEntries(
    signature
      .slice(signature.indexOf(":") + 1)
      .split(";")
      .map((tag) => tag.replace(/\s+/g, "").split(/=(.*)/).slice(0, 2)),
  ) as Record<string, string>;
  const body = `${raw
    .slice(split + 4)
    .split("\r\n")
    .map((line) => line.replace(/[ \t]+/g, " ").replace(/ $/, ""))
    .join("\r\n")
    .replace(/(\r\n)*$/, "")}\r\n`;
  const hash = new Bun.CryptoHasher("sha256").update(body, "latin1").digest("base64");
  const relaxed = (one: string) => {
    const [, name = "", value = ""] = /^([^:]+):([\s\S]*)$/.exec(one) ?? [];
    const text = value.replace(/\r\n/g, "").replace(/[ \t]+/g, " ");
    return `${name.toLowerCase().trim()}:${text.trim()}`;
  };
  const signed = (tags.h ?? "").split(":").map((name) => `${relaxed(field(name))}\r\n`);
  const own = relaxed(signature.replace(/(\bb=)[^;]*/, "$1"));
  const verifier = createVerify("RSA-SHA256").update(signed.join("") + own, "latin1");
  return {
    body: hash === tags.bh,
    headers: verifier.verify(key, Buffer.from(tags.b ?? "", "base64")),
    domain: tags.d,
  };
}
