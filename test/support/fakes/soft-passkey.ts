// Answers as a person's device with a passkey does (WebAuthn level 2): a P-256 key in software,
// whose answers can be falsified to test that the server refuses them.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_KEY = 0x40;

interface Bent {
  /** False if the device did not ask for a fingerprint or a PIN. */
  readonly isVerified?: boolean;
  readonly origin?: string;
  readonly counter?: number;
}

interface Options {
  readonly challenge: string;
}

export class SoftPasskey {
  readonly id = randomBytes(16).toString("base64url");
  readonly #private: KeyObject;
  readonly #public: { readonly x: Buffer; readonly y: Buffer };
  #counter = 0;

  constructor(
    readonly host: string,
    readonly origin: string,
  ) {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#private = pair.privateKey;
    const { x = "", y = "" } = pair.publicKey.export({ format: "jwk" });
    this.#public = { x: Buffer.from(x, "base64url"), y: Buffer.from(y, "base64url") };
  }

  /** The answer to `navigator.credentials.create`. */
  create({ challenge }: Options, bent: Bent = {}) {
    const id = Buffer.from(this.id, "base64url");
    const length = Buffer.from([0, id.length]);
    const data = Buffer.concat([
      this.#head(HAS_KEY, bent),
      Buffer.alloc(16),
      length,
      id,
      this.#cose(),
    ]);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      cborText("fmt"),
      cborText("none"),
      cborText("attStmt"),
      Buffer.from([0xa0]),
      cborText("authData"),
      cborBytes(data),
    ]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: this.#client("webauthn.create", challenge, bent),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal"],
      },
    };
  }

  /** The answer to `navigator.credentials.get`. */
  get({ challenge }: Options, bent: Bent = {}) {
    const clientDataJSON = this.#client("webauthn.get", challenge, bent);
    const data = this.#head(0, bent);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, "base64url"))]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON,
        authenticatorData: data.toString("base64url"),
        signature: sign("sha256", signed, this.#private).toString("base64url"),
      },
    };
  }

  #credential() {
    const { id } = this;
    return { id, rawId: id, type: "public-key", clientExtensionResults: {} };
  }

  #head(flags: number, { isVerified = true, counter }: Bent): Buffer {
    this.#counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.#counter);
    const all = flags | PRESENT | (isVerified ? VERIFIED : 0);
    return Buffer.concat([sha256(this.host), Buffer.from([all]), count]);
  }

  #client(type: string, challenge: string, { origin = this.origin }: Bent): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin })).toString("base64url");
  }

  /** The public key: kty 2, ES256, P-256, x, y. */
  #cose(): Buffer {
    const { x, y } = this.#public;
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      cborBytes(x),
      Buffer.from([0x22]),
      cborBytes(y),
    ]);
  }
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

function cborBytes(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash("sha256").update(data).digest();
}
