/**
 * Defects that are built in on purpose, so that checkers can show that they would find them. Only a simulated runtime can switch one on.
 * Each is asked for at exactly one place.
 */
export const mutationNames = [
  /** A shard answers with every document that it holds, those of ranges that it does not own included. */
  'ownershipFilterOff',
  /** A donor does not keep writers out while the last changes of a migration go over and its owner changes. */
  'criticalSectionOff',
  /** A repeated statement of a retryable write is carried out again. */
  'retryDedupeOff',
  /** A recipient does not ask for what was written on the donor while the documents were copied. */
  'catchUpOff',
  /** A recipient does not take over which retryable writes the donor has executed. */
  'sessionMigrationOff',
  /** A shard serves commands that were routed by an older placement. */
  'versionCheckOff',
] as const

export type MutationName = (typeof mutationNames)[number]
