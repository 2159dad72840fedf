/**
 * Defects that a simulated runtime can build in, to show that the checkers find them. Each name is
 * used at exactly one place.
 */
export const mutationNames = [
  /** A shard returns orphans. */
  'ownershipFilterOff',
  /**
   * A donor does not block writers while the last changes of a migration are transferred and
   * committed.
   */
  'criticalSectionOff',
  /** A repeated statement of a retryable write is executed again. */
  'retryDedupeOff',
  /** A recipient does not fetch the changes that the donor made while the documents were cloned. */
  'catchUpOff',
  /** A recipient does not take over the donor's history of retryable writes. */
  'sessionMigrationOff',
  /** A shard serves commands that were routed by a stale placement. */
  'versionCheckOff',
  /** Coordinators of the same database or collection do not wait for each other. */
  'ddlLocksOff',
  /** A change stream shows only documents that its shard owns when it reads the oplog. */
  'streamHistoryOff',
  /** Change streams show the documents that chunk moves insert, and deleted orphans. */
  'streamMigrationFilterOff',
  /** A router returns events of a change stream before other shards have passed them. */
  'streamPromisesOff',
  /** A router commits a transaction on each of its shards, without asking them to prepare it. */
  'prepareOff',
  /** A coordinator does not store its decision about a transaction. */
  'decisionRecordOff',
  /** Each shard selects its own time for the snapshot of a transaction. */
  'snapshotTimeOff',
  /** A transaction overwrites what has changed since its snapshot. */
  'writeConflictOff',
] as const

/** Defects of replica sets with several members. */
export const setMutationNames = [
  /** A primary acknowledges writes before other members have them. */
  'writeConcernWaitOff',
  /** A member votes for several candidates of one term. */
  'voteRecordOff',
  /** A member votes for candidates that are behind it. */
  'voteFreshnessOff',
  /** A member with entries that its sync source does not have keeps them. */
  'rollbackOff',
  /** A secondary answers before it has what the client has seen. */
  'causalWaitOff',
  /** A primary serves linearizable reads without proof that it still is the primary. */
  'linearizableProofOff',
] as const

export type ClusterMutationName = (typeof mutationNames)[number]
export type MutationName = ClusterMutationName | (typeof setMutationNames)[number]

export const allMutationNames: readonly MutationName[] = [...mutationNames, ...setMutationNames]
