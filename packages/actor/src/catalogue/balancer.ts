import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

const version: PlacementVersionTuple = ['0123456789abcdef01234567', 1, 2, 3, 4]

export const balancerExchanges = {
  'balancer.status': exchange<Empty, { mode: string; inBalancerRound: boolean; numBalancerRounds: number }>(
    {},
    { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 },
  ),
  /** Runs a round now, or after the running one. `report`: the event `balancer-round` as JSON. */
  'balancer.run-round': exchange<Empty, { report: string }>({}, { report: '{}' }),
  /** `explanation`: what the balancer would do, as JSON; empty with an error. */
  'balancer.explain': exchange<{ ns: string }, { explanation: string; error: ErrorField }>(
    { ns: 'test.c' },
    { explanation: '{}', error: null },
  ),
  /**
   * Moves a top chunk that a shard has just split off to a shard with fewer chunks. Server:
   * Balancer::rebalanceSingleChunk.
   */
  'balancer.rebalance-chunk': exchange<{ ns: string; min: Uint8Array }, { error: ErrorField }>(
    { ns: 'test.c', min: emptyDocument },
    { error: null },
  ),
  /** The config.collections documents of the sharded collections, ordered by namespace. */
  'config.get-collections': exchange<Empty, { collections: readonly Uint8Array[] }>(
    {},
    { collections: [emptyDocument] },
  ),
  'config.get-split-settings': exchange<{ ns: string }, { maxChunkSizeBytes: number; autoSplit: boolean }>(
    { ns: 'test.c' },
    { maxChunkSizeBytes: 134217728, autoSplit: true },
  ),
  'config.log-action': exchange<{ what: string; details: Uint8Array }, Empty>(
    { what: 'balancer.round', details: emptyDocument },
    {},
  ),
  /** Marks the chunk `[min, max)`. No effect when it has changed. */
  'config.mark-chunk-jumbo': exchange<
    { ns: string; version: PlacementVersionTuple; min: Uint8Array; max: Uint8Array },
    Empty
  >({ ns: 'test.c', version, min: emptyDocument, max: emptyDocument }, {}),
  'config.disable-balancing': exchange<{ ns: string }, Empty>({ ns: 'test.c' }, {}),
  /** `pointsMax` null: any number. Server: splitVector or autoSplitVector, by version. */
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
   * Bytes of the documents that the shard owns, in this order. The balancer compares shards by
   * them.
   */
  'shard.collection-sizes': exchange<{ namespaces: readonly string[] }, { sizes: readonly number[] }>(
    { namespaces: ['test.c'] },
    { sizes: [1] },
  ),
  /**
   * Answered when the automatic splits are done, and with `rangeDeletions` also the range
   * deletions, which then run without their delay. `worked`: whether there were any.
   */
  'shard.finish-balancing': exchange<{ rangeDeletions: boolean }, { worked: boolean }>(
    { rangeDeletions: true },
    { worked: false },
  ),
}
