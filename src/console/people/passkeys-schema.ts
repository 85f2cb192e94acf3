// Defines the passkeys of a person, and the options with which a browser makes one.

import { FORM_FIELDS } from "../../core/text/form-fields.ts";
import { list, reply, time } from "../../http/console/fields.ts";
import { type Checked, nameText, nullable, Type, text } from "../../http/schema.ts";
import { NewPasskeyResponse } from "../../identity/passkey-schema.ts";

export const Passkeys = reply({
  passkeys: list(
    Type.Object({
      id: text(),
      name: text(),
      created_at: time("When it was added"),
      used_at: nullable(time("When it last signed in")),
    }),
  ),
});
export type PasskeysReply = Checked<typeof Passkeys>;

export const NewPasskeyBody = Type.Object(
  {
    name: nameText(FORM_FIELDS.name.charactersMax, { description: "By which the person knows it" }),
    response: NewPasskeyResponse,
  },
  { additionalProperties: false },
);

export const PasskeyOptions = reply({
  options: Type.Object(
    {},
    { additionalProperties: true, description: "For `navigator.credentials.create`, as JSON" },
  ),
});

export const PasskeyRef = reply({ id: text() });

export const PASSKEYS_EXAMPLE: PasskeysReply = {
  passkeys: [
    {
      id: "passkey_7n42DGM5Tflk9n8mt7Fhc7",
      name: "Laptop",
      created_at: "2026-11-22T09:00:00.000Z",
      used_at: null,
    },
  ],
};
