/** Manual: core/sharding-shard-key-indexes. */
import { CommandError, findField } from '@shardlab/bson'
import type { Access, IndexRules } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { Behaviours, ShardKeyPattern } from '@shardlab/sharding'
import { shardKeyIndex, supportsShardKey } from './shard-key-index.js'
import type { CollectionPlacements } from '../host/host.js'

export function shardIndexRules(
  behaviours: Behaviours,
  placements: Pick<CollectionPlacements, 'collection'>,
): IndexRules {
  /** Undefined: unsharded for this command. */
  const shardKeyOf = ({ ownership }: Access, ns: string): ShardKeyPattern | undefined => {
    if (ownership !== null) return ownership.placement.isUnsplittable ? undefined : ownership.placement.shardKey
    const placement = behaviours.directCommandsSeePlacement ? placements.collection(ns) : undefined
    return placement?.isUnsplittable === false ? placement.shardKey : undefined
  }
  /** Undefined: no index is protected. */
  const protectedKey = (access: Access, ns: string): Uint8Array | undefined => {
    const shardKey = shardKeyOf(access, ns)
    const isProtected = { none: false, ranged: shardKey?.isHashed === false, all: true }[
      behaviours.protectedShardKeyIndexes
    ]
    return isProtected ? shardKey?.document : undefined
  }
  return {
    protects: (access, ns) => behaviours.protectedShardKeyIndexes !== 'none' && shardKeyOf(access, ns) !== undefined,
    keeps(access, collection, index) {
      const key = protectedKey(access, collection.ns)
      return key !== undefined && supportsShardKey(index, key, false)
    },
    isLast(access, collection, index, gone) {
      const key = protectedKey(access, collection.ns)
      if (key === undefined || !supportsShardKey(index, key, false)) return false
      return shardKeyIndex(collection, key, new Set([...gone, index.name])) === undefined
    },
    checkNewIndex(access, ns, spec) {
      const isSet = (name: string): boolean => findField(spec, name)?.isTruthy() === true
      if (!isSet('unique') && !(behaviours.prepareUniqueCountsAsUnique && isSet('prepareUnique'))) return
      const shardKey = shardKeyOf(access, ns)
      const key = findField(spec, 'key')!.slice()
      if (shardKey === undefined || shardKey.allowsUniqueIndex(key)) return
      const what = behaviours.prepareUniqueCountsAsUnique
        ? "index with 'unique' or 'prepareUnique' option"
        : 'unique index'
      throw new CommandError(
        'CannotCreateIndex',
        `cannot create ${what} over ${formatDocument(key)} with shard key pattern ${formatDocument(shardKey.document)}`,
      )
    },
  }
}
