// Answers maps calls with the example of each action, unless the test sets an answer.

import type { PicoUsd } from "../../../src/core/money/money.ts";
import type { MapsAction, ParametersOf } from "../../../src/services/maps/actions.ts";
import { EXAMPLES } from "../../../src/services/maps/maps-examples.ts";
import type { DataByAction } from "../../../src/services/maps/maps-replies.ts";
import type {
  AskOptions,
  MapsAnswer,
  MapsProvider,
  MapsReply,
} from "../../../src/services/maps/providers/provider.ts";

export const ATTRIBUTION = ["© Example contributors"];

type Asked = { readonly action: MapsAction; readonly parameters: object };

export class ScriptedMaps implements MapsProvider {
  /** The requests that came, in order. */
  readonly asked: Asked[] = [];
  /** If set, replaces the examples. */
  answer:
    | (<A extends MapsAction>(action: A, options: AskOptions) => Promise<MapsAnswer<A>>)
    | null = null;
  refusal: Error | null = null;
  /** The operator's cost of a call. */
  buying: PicoUsd | undefined;

  /** Resets the script to its start. */
  reset(): void {
    this.asked.length = 0;
    this.answer = null;
    this.refusal = null;
    this.buying = undefined;
    this.unserved.clear();
  }

  /** Actions that it does not serve. */
  readonly unserved = new Set<MapsAction>();

  serves(action: MapsAction): boolean {
    return !this.unserved.has(action);
  }

  check(): void {
    if (this.refusal !== null) throw this.refusal;
  }

  async ask<A extends MapsAction>(
    action: A,
    parameters: ParametersOf<A>,
    options: AskOptions,
  ): Promise<MapsReply<A>> {
    this.asked.push({ action, parameters });
    const data: DataByAction[A] = EXAMPLES[action].data;
    const example = { data, attribution: ATTRIBUTION };
    const answer = (await this.answer?.(action, options)) ?? example;
    return { ...answer, provider: "scripted", buying: this.buying };
  }
}
