// Stores the sandbox's objects in Stripe's own form, answers to idempotency keys, and events that
// no webhook has taken yet. With a file they survive a restart.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { RandomBytes } from "../../core/ids.ts";
import { newSuffix } from "../../core/ids.ts";
import { StartError } from "../../core/start-error.ts";
import { thrownMessage } from "../../core/text/error-message.ts";

/** An object as Stripe's API shows it. */
export interface SandboxObject {
  readonly id: string;
  readonly object: string;
  /** Omitted for kinds for which Stripe omits it. */
  readonly created?: number;
  readonly [field: string]: unknown;
}

export interface KeptAnswer {
  /** The fingerprint of the request; another request with the same key is refused. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  /** The time of the answer, in seconds. */
  readonly at?: number;
}

/** Stripe forgets an idempotency key after a day. */
const ANSWER_SECONDS = 86_400;

interface State {
  readonly objects: Record<string, SandboxObject>;
  /** The result of charging each saved card, by the card's id. */
  readonly behaviours: Record<string, string>;
  /** Request parameters that are not part of the object, by the object's id. */
  readonly terms: Record<string, Readonly<Record<string, unknown>>>;
  readonly answers: Record<string, KeptAnswer>;
  /** Ids of events that wait for the webhook. */
  undelivered: string[];
}

export interface SandboxStoreOptions {
  readonly file: string | null;
  readonly now: () => number;
  readonly random: RandomBytes;
}

export class SandboxStore {
  readonly #state: State;

  constructor(readonly options: SandboxStoreOptions) {
    const empty = { objects: {}, behaviours: {}, terms: {}, answers: {}, undelivered: [] };
    const { file } = options;
    this.#state =
      file !== null && existsSync(file) ? { ...empty, ...readState(file) } : { ...empty };
  }

  get nowSeconds(): number {
    return Math.floor(this.options.now() / 1_000);
  }

  newId(prefix: string): string {
    return `${prefix}_sandbox_${newSuffix(this.options.random)}`;
  }

  find(id: string): SandboxObject | null {
    return Object.hasOwn(this.#state.objects, id) ? (this.#state.objects[id] ?? null) : null;
  }

  /** All objects of a kind, newest first. */
  list(kind: string): SandboxObject[] {
    const all = Object.values(this.#state.objects).filter(({ object }) => object === kind);
    return all.reverse();
  }

  put<T extends SandboxObject>(object: T): T {
    this.#state.objects[object.id] = object;
    return object;
  }

  /** Changes fields of an object; returns the changed object. */
  change(id: string, fields: Readonly<Record<string, unknown>>): SandboxObject {
    const before = this.find(id);
    if (before === null) throw new Error(`The sandbox has no ${id}`);
    return this.put({ ...before, ...fields });
  }

  behaviourOf(card: string): string {
    return this.#state.behaviours[card] ?? "ok";
  }

  setBehaviour(card: string, behaviour: string): void {
    this.#state.behaviours[card] = behaviour;
  }

  termsOf(id: string): Readonly<Record<string, unknown>> {
    return this.#state.terms[id] ?? {};
  }

  setTerms(id: string, terms: Readonly<Record<string, unknown>>): void {
    this.#state.terms[id] = terms;
  }

  answerTo(key: string): KeptAnswer | null {
    const kept = Object.hasOwn(this.#state.answers, key)
      ? (this.#state.answers[key] ?? null)
      : null;
    const isOld = this.nowSeconds - (kept?.at ?? this.nowSeconds) > ANSWER_SECONDS;
    return isOld ? null : kept;
  }

  keepAnswer(key: string, answer: Omit<KeptAnswer, "at">): void {
    this.#state.answers[key] = { ...answer, at: this.nowSeconds };
  }

  get undelivered(): readonly string[] {
    return this.#state.undelivered;
  }

  setUndelivered(ids: readonly string[]): void {
    this.#state.undelivered = [...ids];
  }

  /** Writes the file as a whole. */
  save(): void {
    const { file } = this.options;
    if (file === null) return;
    writeFileSync(`${file}.tmp`, JSON.stringify(this.#state), { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  }
}

/** @throws StartError for a file that is not JSON, as a disk that lost power may leave it */
function readState(file: string): Partial<State> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Partial<State>;
  } catch (cause) {
    const why = thrownMessage(cause);
    throw new StartError(
      `${file} cannot be read (${why}). Remove it: the sandbox then knows none of its payments ` +
        "and cards, and balances stay as they are.",
      { cause },
    );
  }
}
