import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

const version: PlacementVersionTuple = ['0123456789abcdef01234567', 1, 2, 3, 4]

/** Requests to the balancer, and its requests to other members. */
export const balancerExchanges = {
  'balancer.status': exchange<Empty, { mode: string; inBalancerRound: boolean; numBalancerRounds: number }>(
    {},
    { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 },
  ),
  /**
   * Runs a round now, after the one that is running if there is one. `report`: the event
   * `balancer-round` as JSON.
   */
  'balancer.run-round': exchange<Empty, { report: string }>({}, { report: '{}' }),
  /**
   * Explains what the balancer would do with a collection. `explanation` is JSON, empty with an
   * error.
   */
  'balancer.explain': exchange<{ ns: string }, { explanation: string; error: ErrorField }>(
    { ns: 'test.c' },
    { explanation: '{}', error: null },
  ),
  /**
   * Moves a chunk that a shard has split off at the end of the key space to a shard with fewer
   * chunks. Server: Balancer::rebalanceSingleChunk.
   */
  'balancer.rebalance-chunk': exchange<{ ns: string; min: Uint8Array }, { error: ErrorField }>(
    { ns: 'test.c', min: emptyDocument },
    { error: null },
  ),
  /** The config.collections documents of all sharded collections, ordered by namespace. */
  'config.get-collections': exchange<Empty, { collections: readonly Uint8Array[] }>(
    {},
    { collections: [emptyDocument] },
  ),
  /** The settings of config.settings for one collection, for the balancer and automatic splits. */
  'config.get-split-settings': exchange<{ ns: string }, { maxChunkSizeBytes: number; autoSplit: boolean }>(
    { ns: 'test.c' },
    { maxChunkSizeBytes: 134217728, autoSplit: true },
  ),
  /** Appends to config.actionlog. */
  'config.log-action': exchange<{ what: string; details: Uint8Array }, Empty>(
    { what: 'balancer.round', details: emptyDocument },
    {},
  ),
  /**
   * Marks the chunk `[min, max)` as jumbo: it is too large to be moved and cannot be split. No
   * effect when the chunk has changed.
   */
  'config.mark-chunk-jumbo': exchange<
    { ns: string; version: PlacementVersionTuple; min: Uint8Array; max: Uint8Array },
    Empty
  >({ ns: 'test.c', version, min: emptyDocument, max: emptyDocument }, {}),
  /** Switches balancing of the collection off. */
  'config.disable-balancing': exchange<{ ns: string }, Empty>({ ns: 'test.c' }, {}),
  /**
   * Finds the points that split a range into chunks of at most this size. `pointsMax` null: any
   * number. Server: splitVector or autoSplitVector, by version.
   */
  'shard.find-split-points': exchange<
    {
      ns: string
      keyPattern: Uint8Array
      min: Uint8Array
      max: Uint8Array
      maxChunkSizeBytes: number
      pointsMax: number | null
    },
    { points: readonly Uint8Array[]; error: ErrorField }
  >(
    {
      ns: 'test.c',
      keyPattern: emptyDocument,
      min: emptyDocument,
      max: emptyDocument,
      maxChunkSizeBytes: 134217728,
      pointsMax: 1,
    },
    { points: [emptyDocument], error: null },
  ),
  /**
   * Bytes of the documents that a shard owns of these collections, in this order. The balancer
   * compares shards by them.
   */
  'shard.collection-sizes': exchange<{ namespaces: readonly string[] }, { sizes: readonly number[] }>(
    { namespaces: ['test.c'] },
    { sizes: [1] },
  ),
  /**
   * Answers when the shard has finished its automatic splits, and with `rangeDeletions` also its
   * range deletions, which it runs without their delay. `worked`: whether there were any.
   */
  'shard.finish-balancing': exchange<{ rangeDeletions: boolean }, { worked: boolean }>(
    { rangeDeletions: true },
    { worked: false },
  ),
}
