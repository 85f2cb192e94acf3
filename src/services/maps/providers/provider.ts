// Defines the interface between a maps call and the providers of its action.

import type { CancelSignal } from "../../../core/cancellation.ts";
import { ApiError } from "../../../core/errors.ts";
import type { PicoUsd } from "../../../core/money/money.ts";
import type { Fetch } from "../../../upstream/upstream-http.ts";
import type { MapsAction, ParametersOf } from "../actions.ts";
import type { DataOf } from "../maps-replies.ts";
import type { MapsServer } from "../servers.ts";

export interface MapsAnswer<A extends MapsAction> {
  readonly data: DataOf<A>;
  /** The attribution that the licences of the sources require, one line per source. */
  readonly attribution: readonly string[];
}

export interface AskOptions {
  /** The caller's account: servers are shared fairly between accounts. */
  readonly account: string;
  /**
   * Aborted when the caller is gone or a time limit is reached; this also ends the upstream
   * request.
   */
  readonly signal: CancelSignal;
}

/** The reason why a provider cannot serve a request. */
export interface Unable {
  /** The name of the parameter that it does not support. */
  readonly parameter: string;
  /**
   * The supported values, after the parameter's name: "must be airport". Never contains a value of
   * the caller.
   */
  readonly problem: string;
}

/** The error for the caller if no provider can serve the request. */
export function refusalFor({ parameter, problem }: Unable): ApiError {
  return new ApiError("invalid_parameter", `${parameter} ${problem}`);
}

/** One provider's implementation of an action. */
export interface Service<A extends MapsAction> {
  /**
   * Null if the provider supports every parameter. Otherwise the provider is skipped; if all are,
   * the caller receives the reason. A parameter is never silently ignored.
   */
  readonly unable?: (parameters: ParametersOf<A>) => Unable | null;
  /**
   * One attempt, without retries. "Nothing found" is an answer. Throws a RouteFailure if it did not
   * serve, to try the next provider, and an ApiError if the request is at fault. An UnableFailure
   * says that it cannot serve these parameters, which only the reply showed.
   */
  readonly ask: (parameters: ParametersOf<A>, options: AskOptions) => Promise<MapsAnswer<A>>;
}

/** The actions that a provider serves. */
export type Services = { readonly [A in MapsAction]?: Service<A> };

/** Connects a configured server of a remote kind; sends nothing until a call needs it. */
export type ConnectServer = (server: MapsServer, deps: { readonly fetch: Fetch }) => Services;

/** An answer, with the kind of its provider. */
export interface MapsReply<A extends MapsAction> extends MapsAnswer<A> {
  readonly provider: string;
  /** The price that the operator pays for it; undefined if it is not configured. */
  readonly buying?: PicoUsd | undefined;
}

/** Serves an action by its providers in order. */
export interface MapsProvider {
  /** True if a provider serves the action, whatever its parameters. */
  serves(action: MapsAction): boolean;
  /**
   * Throws refusals that need no request: `maps_unavailable`, with the name of the setting, if no
   * provider serves the action; `invalid_parameter` if no provider supports the parameters.
   */
  check<A extends MapsAction>(action: A, parameters: ParametersOf<A>): void;
  /** Throws an ApiError: those of `check`, and `upstream_unreachable` if no provider answered. */
  ask<A extends MapsAction>(
    action: A,
    parameters: ParametersOf<A>,
    options: AskOptions,
  ): Promise<MapsReply<A>>;
}
