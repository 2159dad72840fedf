import type { LineChart } from './charts.js'

/** A run at single instants, of which a slider shows one; its charts and maps mark that instant. */
export interface Instants {
  readonly kind: 'instants'
  /** Milliseconds since the beginning, in order. */
  readonly times: readonly number[]
  /** All that ever existed. Their places are their colours. */
  readonly shards: readonly string[]
  /** By instant, then by shard. null: the shard is not in the cluster. */
  readonly bytes: ShardValues
  readonly chunks: ShardValues
  readonly orphans: ShardValues
  readonly charts: readonly LineChart[]
  readonly owners: readonly Owners[]
}

export type ShardValues = readonly (readonly (number | null)[])[]

/** The owners of a collection's key space at each instant. */
export interface Owners {
  readonly ns: string
  /** Lower bounds of ranges, in key order, as relaxed Extended JSON. */
  readonly bounds: readonly string[]
  /** Width of each range as a share of all: by its bytes at the last instant, and by its keys. */
  readonly byBytes: readonly number[]
  /** null: keys are not numbers. */
  readonly byKeys: readonly number[] | null
  /** Places of ranges; `to` is exclusive. */
  readonly zones: readonly { readonly zone: string; readonly from: number; readonly to: number }[]
  /** By instant, neighbours with one owner together. */
  readonly rows: readonly (readonly OwnedRanges[])[]
}

/** @property shard its place; `to` is exclusive */
export type OwnedRanges = readonly [from: number, to: number, shard: number]
