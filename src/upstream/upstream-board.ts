// How the servers behind the services do, as this process sees them: which are given up for now,
// and for what. Other processes have their own view.

/** One subject on one server: a model, or an action. */
export interface ServerView {
  readonly server: string;
  readonly subject: string;
  /** False while the server is given up: nothing is asked of it. */
  readonly isPassable: boolean;
  /** Failures since the last success. */
  readonly failures: number;
}

/** Something that asks servers and remembers how they did. */
export interface BoardMember {
  views(): readonly ServerView[];
}

/** The views of everything in this process that asks servers. */
export class UpstreamBoard {
  readonly #members: (BoardMember & { readonly service: string })[] = [];

  /** Called once for each service, when it is made. */
  add(service: string, member: BoardMember): void {
    this.#members.push({ service, views: () => member.views() });
  }

  /** Every server that was asked since it was configured, by service. */
  servers(): (ServerView & { readonly service: string })[] {
    return this.#members.flatMap(({ service, views }) =>
      views().map((view) => ({ service, ...view })),
    );
  }
}
