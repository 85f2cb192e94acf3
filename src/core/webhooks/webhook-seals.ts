// Seals the secrets of receivers, which must be readable to sign, under keys of the installation
// (D-785).

import type { RandomBytes } from "../ids.ts";
import { Seals } from "../sealed.ts";
import type { SecretList } from "../secrets.ts";

export class WebhookSeals {
  readonly #seals: Seals;

  /** `peppers` are the peppers of API keys: no further secret has to be kept. */
  constructor(peppers: SecretList) {
    this.#seals = new Seals(peppers, "farebox secrets of webhooks");
  }

  /** Seals the secret of a receiver. */
  seal(secret: string, receiverId: string, random: RandomBytes): Uint8Array {
    return this.#seals.seal(secret, labelOf(receiverId), random);
  }

  /** Opens the secret of a receiver; null if no pepper opens it. */
  open(box: Uint8Array, receiverId: string): ReturnType<Seals["open"]> {
    return this.#seals.open(box, labelOf(receiverId));
  }
}

/** Binds a sealed secret to its receiver. */
function labelOf(receiverId: string): string {
  return `webhook ${receiverId}`;
}
