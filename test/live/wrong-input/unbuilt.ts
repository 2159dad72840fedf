/**
 * Commands that Shardlab, or the version, does not have: the error is the server's for an unknown
 * command.
 */
import type { Document } from 'mongodb'
import { wrong, type WrongInput } from './cases.js'

const unbuilt: readonly Document[] = [
  { transitionFromDedicatedConfigServer: 1 },
  { transitionToDedicatedConfigServer: 1 },
  { repairShardedCollectionChunksHistory: 'app.c' },
  { resetPlacementHistory: 1 },
  { startShardDraining: 'shard02' },
  { stopShardDraining: 'shard02' },
  { commitShardRemoval: 'shard02' },
  { setUserWriteBlockMode: 1, global: true },
  { _configsvrMoveRange: 'app.c' },
  { _shardsvrMoveRange: 'app.c' },
  { splitChunk: 'app.c' },
  { nothing: 1 },
]

const commandNotFound = 59

export const unbuiltCases: readonly WrongInput[] = unbuilt.map((command) =>
  wrong('not built', command, commandNotFound),
)
