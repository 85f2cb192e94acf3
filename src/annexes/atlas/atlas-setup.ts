/** What the thread of the atlas is started with. */
export interface AtlasSetup {
  /** The folder of its data file. */
  readonly directory: string;
}
