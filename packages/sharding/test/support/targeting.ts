import type { Document } from '@shardlab/bson'
import { targetFilter, type CollectionPlacement } from '../../src/index.js'
import { filterOf, placementOf } from './placements.js'

/** The shards that a filter targets, without their leading `s`: `0,2`. */
export function shardsOf(placement: CollectionPlacement, filter: Document, options = {}): string {
  return targetFilter(placement, filterOf(filter), options)
    .shards.map((shard) => shard.slice(1))
    .join(',')
}

/** An operation with a collation. */
export const collated = { strings: (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0) }

/** Key `{ a: 1 }`, split at x, y and z: the chunks are on `s0` to `s3`. */
export const xyz = placementOf({ a: 1 }, [{ a: 'x' }, { a: 'y' }, { a: 'z' }])
