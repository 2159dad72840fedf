import type { Document } from '@shardlab/bson'
import { targetFilter, type CollectionPlacement } from '../../src/index.js'
import { filterOf, placementOf } from './placements.js'

/** `0,2`: the shards without their leading `s`. */
export function shardsOf(placement: CollectionPlacement, filter: Document, options = {}): string {
  return targetFilter(placement, filterOf(filter), options)
    .shards.map((shard) => shard.slice(1))
    .join(',')
}

export const collated = { strings: (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0) }

/** The chunks are on `s0` to `s3`. */
export const xyz = placementOf({ a: 1 }, [{ a: 'x' }, { a: 'y' }, { a: 'z' }])
