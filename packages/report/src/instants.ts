import type { LineChart } from './charts.js'
import type { Owners } from './owners.js'

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
