// The ways of a call through the product: by each door for text, to servers of chat completions and
// to those that speak the door's own form.

import { DOOR_NAMES, DOORS, type DoorName } from "../api/doors.ts";
import type { ProductModel } from "./product.ts";

export interface Way {
  readonly door: DoorName;
  /** The form of the server; null for chat completions. */
  readonly form: "responses" | "messages" | null;
}

export const CHAT_WAY: Way = { door: "chat", form: null };

export const WAYS: readonly Way[] = DOOR_NAMES.flatMap((door) => {
  const { form } = DOORS[door];
  const own = form === null ? [] : [{ door, form }];
  return [{ door, form: null }, ...own];
});

/** The models, each at servers of every form. */
export function inEachForm(models: readonly ProductModel[]): ProductModel[] {
  return models.flatMap((model) =>
    ([null, "responses", "messages"] as const).map((form) => ({
      ...model,
      id: modelFor({ form }, model.id),
      mood: model.mood ?? model.id,
      form,
    })),
  );
}

/** The id of a model of `inEachForm` for calls of this way. */
export function modelFor({ form }: Pick<Way, "form">, id: string): string {
  return form === null ? id : `${id}-${form}`;
}
