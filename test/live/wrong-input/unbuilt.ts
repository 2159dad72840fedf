/** Commands that Shardlab does not have, or that the version does not: told as a server tells what it has never heard of. */
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
  { setClusterParameter: { testIntClusterParameter: { intData: 5 } } },
  { _configsvrMoveRange: 'app.c' },
  { _shardsvrMoveRange: 'app.c' },
  { splitChunk: 'app.c' },
  { nothing: 1 },
]

/** Of 5.0. */
const resharding: readonly Document[] = [
  { reshardCollection: 'app.c', key: { l: 1 } },
  { abortReshardCollection: 'app.c' },
  { commitReshardCollection: 'app.c' },
  { cleanupReshardCollection: 'app.c' },
]

/** Of 8.0. */
const moving: readonly Document[] = [
  { moveCollection: 'app.plain', toShard: 'shard02' },
  { unshardCollection: 'app.c', toShard: 'shard02' },
  { abortMoveCollection: 'app.plain' },
  { abortUnshardCollection: 'app.c' },
]

const commandNotFound = 59

export const unbuiltCases: readonly WrongInput[] = [
  ...unbuilt.map((command) => wrong('not built', command, commandNotFound)),
  ...resharding.map((command) => wrong('younger than 4.4', command, { '4.4': commandNotFound, '7.0': 'untried' })),
  ...moving.map((command) => wrong('younger than 7.0', command, { '4.4': commandNotFound, '8.0': 'untried' })),
]
