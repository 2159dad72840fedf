import { placeOf, type Delta, type LiveState } from '@shardlab/dashboard'
import { isDeepStrictEqual } from 'node:util'

/** Whether a reader of the state would notice it. */
export function changesState(state: LiveState, delta: Delta): boolean {
  switch (delta.type) {
    case 'member':
      return !isDeepStrictEqual(state.members.get(delta.member.address), delta.member)
    case 'shard':
      return !isDeepStrictEqual(state.shards.get(delta.shard.id), delta.shard)
    case 'collection':
      return !isDeepStrictEqual(state.collections.get(delta.collection.ns), delta.collection)
    case 'faults':
      return !isDeepStrictEqual(state.faults, delta.faults)
    case 'balancer':
      return !isDeepStrictEqual(state.balancer, delta.balancer)
    case 'catalog':
      return !isDeepStrictEqual(state.catalog, delta.catalog)
    case 'clock':
      return !isDeepStrictEqual(state.clock, delta.clock)
    case 'chunks':
      return !areSameChunks(state, delta)
    default:
      return true
  }
}

/** Migrations and splits also give new versions to chunks that stay as they are. */
function areSameChunks(state: LiveState, { ns, from, to, chunks }: Extract<Delta, { type: 'chunks' }>): boolean {
  if (to === null) return false
  const known = state.chunksOf(ns)
  const place = placeOf(known, from)
  const end = place + chunks.length
  // The last chunk ends at MaxKey, which is no chunk's key.
  if (end < known.length && known[end]!.key !== to) return false
  return chunks.every((chunk, i) => isDeepStrictEqual(known[place + i], chunk))
}
