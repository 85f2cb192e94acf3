/** The parameters that the thread of the atlas starts with. */
export interface AtlasSetup {
  /** The folder of the atlas's data file. */
  readonly directory: string;
}
