/** Errors that an administrator must expect during concurrent changes. */
import type { Code } from '../client/errors.js'

export const codes = {
  badValue: 2,
  userNotFound: 11,
  unauthorized: 13,
  authenticationFailed: 18,
  /** Also: the shard may not be drained now. */
  illegalOperation: 20,
  alreadyInitialized: 23,
  lockTimeout: 24,
  namespaceNotFound: 26,
  indexNotFound: 27,
  namespaceExists: 48,
  shardKeyNotFound: 61,
  shardNotFound: 70,
  /** Also: a split point is already a bound. */
  invalidOptions: 72,
  operationIncomplete: 77,
  cannotSplit: 87,
  operationFailed: 96,
  incompatibleShardingMetadata: 105,
  conflictingOperation: 117,
  notSharded: 118,
  staleEpoch: 150,
  chunkTooBig: 153,
  zoneStillInUse: 163,
  zoneNotFound: 177,
  overlappingZones: 178,
  exceededTimeLimit: 262,
  indexBuildAborted: 276,
  noSuchReshardCollection: 339,
  reshardCollectionCommitted: 340,
  reshardCollectionAborted: 341,
  reshardingCriticalSectionTimeout: 342,
  interrupted: 11_601,
  duplicateKey: 11_000,
  /** Of 2.6; 70 later. */
  shardCannotBeFound: 13_129,
  chunkMissing: 40_165,
  /** Fewer keys than requested chunks. */
  notEnoughCardinality: 4_952_606,
  userExists: 51_003,
} as const

/** Before 6.0 these errors have no code. */
const wrongBounds: readonly Code[] = [undefined, codes.shardKeyNotFound, 656_450, 656_451, 656_452]

export const cannotSplit: readonly Code[] = [
  undefined,
  codes.chunkMissing,
  codes.incompatibleShardingMetadata,
  codes.operationFailed,
  codes.invalidOptions,
  codes.staleEpoch,
  codes.badValue,
  codes.cannotSplit,
  // Not sharded yet, or not at the moment.
  codes.notSharded,
  codes.namespaceNotFound,
]

export const cannotMerge: readonly Code[] = [
  ...wrongBounds,
  codes.staleEpoch,
  codes.illegalOperation,
  codes.badValue,
  codes.notSharded,
  codes.namespaceNotFound,
]

export const cannotMove: readonly Code[] = [
  ...wrongBounds,
  codes.shardNotFound,
  codes.namespaceNotFound,
  codes.chunkMissing,
  codes.staleEpoch,
  codes.illegalOperation,
  codes.incompatibleShardingMetadata,
  codes.operationFailed,
  codes.operationIncomplete,
  codes.exceededTimeLimit,
  codes.interrupted,
  codes.notSharded,
  codes.chunkTooBig,
  // A transaction uses the collection for long.
  codes.lockTimeout,
]

export const cannotMovePrimary: readonly Code[] = [codes.namespaceNotFound, codes.namespaceExists, codes.shardNotFound]
