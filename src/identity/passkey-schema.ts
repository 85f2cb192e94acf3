// Defines the answers of a browser after its device has made or used a passkey (WebAuthn, as JSON).

import { type Checked, oneOf, Type, text } from "../http/schema.ts";

const VALUE_CHARACTERS_MAX = 6_000;

const value = (description: string) =>
  text({ maxLength: VALUE_CHARACTERS_MAX, pattern: "^[A-Za-z0-9_-]*$", description });

const credential = {
  id: text({
    minLength: 1,
    maxLength: 1_400,
    description: "By which the device knows the passkey",
  }),
  rawId: value("The same"),
  type: Type.Literal("public-key"),
  authenticatorAttachment: Type.Optional(oneOf(["platform", "cross-platform"])),
  clientExtensionResults: Type.Object({}, { additionalProperties: true }),
};

/** The answer of `navigator.credentials.get`. */
export const SignInResponse = Type.Object(
  {
    ...credential,
    response: Type.Object({
      clientDataJSON: value("What was signed: challenge and origin"),
      authenticatorData: value("What the device says of itself"),
      signature: value("By the passkey"),
      userHandle: Type.Optional(value("The id of the person in the device")),
    }),
  },
  { description: "What the browser answers" },
);
export type SignInResponse = Checked<typeof SignInResponse>;

/** The answer of `navigator.credentials.create`. */
export const NewPasskeyResponse = Type.Object(
  {
    ...credential,
    response: Type.Object({
      clientDataJSON: value("What was signed: challenge and origin"),
      attestationObject: value("The public key"),
      authenticatorData: Type.Optional(value("What the device says of itself")),
      transports: Type.Optional(Type.Array(text({ maxLength: 32 }), { maxItems: 8 })),
      publicKeyAlgorithm: Type.Optional(Type.Integer()),
      publicKey: Type.Optional(value("The public key in another form")),
    }),
  },
  { description: "What the browser answers" },
);
export type NewPasskeyResponse = Checked<typeof NewPasskeyResponse>;
