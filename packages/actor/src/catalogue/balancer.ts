import type { PlacementVersionTuple } from './commands.js'
import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

const version: PlacementVersionTuple = ['0123456789abcdef01234567', 1, 2, 3, 4]

/** What the balancer is asked, and what it asks. */
export const balancerExchanges = {
  'balancer.status': exchange<Empty, { mode: string; inBalancerRound: boolean; numBalancerRounds: number }>(
    {},
    { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 },
  ),
  /** A round now, without waiting for the next one that is due; behind one that is running. `report`: the event `balancer-round` as JSON. */
  'balancer.run-round': exchange<Empty, { report: string }>({}, { report: '{}' }),
  /** What the balancer would do about a collection, and why. `explanation` is JSON; empty with an error. */
  'balancer.explain': exchange<{ ns: string }, { explanation: string; error: ErrorField }>(
    { ns: 'test.c' },
    { explanation: '{}', error: null },
  ),
  /** A shard has made a new chunk at the end of the key space: it is to move where there are fewer. Server: Balancer::rebalanceSingleChunk. */
  'balancer.rebalance-chunk': exchange<{ ns: string; min: Uint8Array }, { error: ErrorField }>(
    { ns: 'test.c', min: emptyDocument },
    { error: null },
  ),
  /** Every config.collections document of a collection that is sharded, ordered by namespace. */
  'config.get-collections': exchange<Empty, { collections: readonly Uint8Array[] }>(
    {},
    { collections: [emptyDocument] },
  ),
  /** What the balancer and automatic splits need to know of config.settings for one collection. */
  'config.get-split-settings': exchange<{ ns: string }, { maxChunkSizeBytes: number; autoSplit: boolean }>(
    { ns: 'test.c' },
    { maxChunkSizeBytes: 134217728, autoSplit: true },
  ),
  /** Appends to config.actionlog. */
  'config.log-action': exchange<{ what: string; details: Uint8Array }, Empty>(
    { what: 'balancer.round', details: emptyDocument },
    {},
  ),
  /** The chunk `[min, max)` cannot be split and is too large to be moved. Nothing happens when there is no such chunk any more. */
  'config.mark-chunk-jumbo': exchange<
    { ns: string; version: PlacementVersionTuple; min: Uint8Array; max: Uint8Array },
    Empty
  >({ ns: 'test.c', version, min: emptyDocument, max: emptyDocument }, {}),
  /** The collection is not balanced any more. */
  'config.disable-balancing': exchange<{ ns: string }, Empty>({ ns: 'test.c' }, {}),
  /**
   * Where a shard would split a range to have chunks of at most this size. `pointsMax` null: any number. Server: splitVector and autoSplitVector,
   * as the version has it.
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
  /** Bytes of the documents of collections that are a shard's own, in this order, by which the balancer compares shards. */
  'shard.collection-sizes': exchange<{ namespaces: readonly string[] }, { sizes: readonly number[] }>(
    { namespaces: ['test.c'] },
    { sizes: [1] },
  ),
  /**
   * Answers when this shard does nothing for the balancer any more: no automatic split, and with `rangeDeletions` no range that it would have to
   * delete, which it does at once. `worked`: there was something.
   */
  'shard.finish-balancing': exchange<{ rangeDeletions: boolean }, { worked: boolean }>(
    { rangeDeletions: true },
    { worked: false },
  ),
}
