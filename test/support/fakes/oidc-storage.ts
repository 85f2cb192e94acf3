// Stores the data of a single sign-on provider in the memory of one test.

import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/** A separate storage for each provider. */
export function oidcStorage(): AdapterFactory {
  const stored = new Map<string, AdapterPayload>();
  return (model) => new TestAdapter(model, stored);
}

class TestAdapter implements Adapter {
  constructor(
    readonly model: string,
    readonly stored: Map<string, AdapterPayload>,
  ) {}

  upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.stored.set(this.#key(id), payload);
    return Promise.resolve();
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(this.stored.get(this.#key(id)));
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(this.#values().find((payload) => payload.uid === uid));
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return Promise.resolve(this.#values().find((payload) => payload.userCode === userCode));
  }

  consume(id: string): Promise<void> {
    const payload = this.stored.get(this.#key(id));
    if (payload !== undefined) payload.consumed = true;
    return Promise.resolve();
  }

  destroy(id: string): Promise<void> {
    this.stored.delete(this.#key(id));
    return Promise.resolve();
  }

  revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of this.stored) {
      if (payload.grantId === grantId) this.stored.delete(key);
    }
    return Promise.resolve();
  }

  #key(id: string): string {
    return `${this.model} ${id}`;
  }

  #values(): AdapterPayload[] {
    return [...this.stored]
      .filter(([key]) => key.startsWith(`${this.model} `))
      .map(([, payload]) => payload);
  }
}
