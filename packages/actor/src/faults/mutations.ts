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
] as const

export type MutationName = (typeof mutationNames)[number]
