/** Differences between server versions. The values come from the table of behaviours. */
export interface ReplicationRules {
  /** Since 4.4: configurations have a term, which orders them before their version. */
  readonly configTerm: boolean
  /**
   * Until 5.0: a voter refuses a candidate with any other configuration than its own; later only
   * one with an older configuration.
   */
  readonly votesNeedSameConfig: boolean
  /** Since 5.0: a member changes its sync source for one that is significantly closer. */
  readonly closerSyncSource: boolean
  /** Since 8.0: of two close sync sources the primary is preferred. */
  readonly preferPrimarySyncSource: boolean
}
