// Defines errors that keep a process from starting.

/** An error whose message explains to the operator why the process cannot start. */
export class StartError extends Error {}

/** A store has data of a version before the first release. */
export class Unreleased extends StartError {
  override readonly name = "Unreleased";

  constructor(store: "Postgres" | "Redis") {
    super(
      `${store} has data of a version from before 0.1.0, the first release, and no release can ` +
        "use them. Nothing was changed. Begin with an empty database and an empty Redis; for " +
        "`npm start`, move its folder .farebox away (docs/upgrading.md).",
    );
  }
}
