/** Growth of measured collections, and deletions from them, by scenarios. */
import { unpackRanges, type ReplyOf, type RequestOf, type SizedRange } from '@shardlab/actor'
import { CommandError, encodeKeyString, sameBytes } from '@shardlab/bson'
import type { ChunkEntry, CollectionPlacement } from '@shardlab/sharding'
import type { ShardHandlers } from '../../host/handlers.js'
import type { BlockedNamespaces, PlacementHost } from '../../host/host.js'
import { noSize, type RangeStore, type Size } from '../collection-ranges.js'
import { positionOfKeyString, valuesAt, type Position } from './position.js'
import { documentsBelow, endOf, negative, sizeOfSome, startOf, withEnd, withStart } from './sized-range.js'

interface MeasureHost extends PlacementHost {
  readonly critical: BlockedNamespaces
  readonly ranges: RangeStore
  readonly autoSplitter: {
    noteWritten(placement: CollectionPlacement, chunk: ChunkEntry, bytes: number): void
  }
}

export const measureHandlers: ShardHandlers<'shard.measure', MeasureHost> = { 'shard.measure': measure }

/**
 * Adds documents to the ranges that this shard owns, or deletes them, and ignores the others. A
 * critical section blocks it like a write.
 * @throws CommandError 26 NamespaceNotFound; 115 CommandNotSupported for a collection that is not
 *   measured
 */
async function measure(
  host: MeasureHost,
  { ns, uuid, ranges }: RequestOf<'shard.measure'>,
): Promise<ReplyOf<'shard.measure'>> {
  const { node, placements, critical } = host
  let placement: CollectionPlacement | null | undefined
  for (;;) {
    const blocking = critical.blocking(ns)
    if (blocking !== undefined) {
      await blocking
      continue
    }
    placement = placements.collection(ns)
    if (placement !== undefined) break
    await placements.refreshCollection(ns)
  }
  if (placement === null) throw new CommandError('NamespaceNotFound', `Collection ${ns} is not sharded`)
  if (!sameBytes(placement.uuid, uuid)) {
    // This shard may not know yet that the collection was resharded.
    placement = await placements.refreshCollection(ns)
    if (placement === null || !sameBytes(placement.uuid, uuid)) return { documents: 0, bytes: 0, error: null }
  }
  const collection = node.collection(ns)
  if (collection === undefined) {
    // A shard without chunks may not have the collection.
    if (placement.table.chunksOn(node.context.address) === 0) return { documents: 0, bytes: 0, error: null }
    throw new CommandError('CommandNotSupported', `${ns} is not measured`)
  }
  const owned = unpackRanges(ranges).flatMap((range) =>
    range.documents < 0
      ? ownParts(host, placement, negative(range), false).map(negative)
      : ownParts(host, placement, range, true),
  )
  return { ...host.ranges.of(collection).change(owned), error: null }
}

/** Neighbouring chunks give one part: thousands of chunks that are filled at once are one range. */
function ownParts(
  { node, autoSplitter }: MeasureHost,
  placement: CollectionPlacement,
  range: SizedRange,
  isGrowth: boolean,
): SizedRange[] {
  const { table, shardKey } = placement
  const own: SizedRange[] = []
  /** Start of the current part, and the size below it; null: none. */
  let begun: (Size & { readonly at: Position }) | null = null
  let below: Size = noSize
  let from = startOf(range)
  const end = (at: Position): void => {
    if (begun === null) return
    const documents = below.documents - begun.documents
    if (documents > 0)
      own.push(withEnd(withStart(range, begun.at, noSize), at, { documents, bytes: below.bytes - begun.bytes }))
    begun = null
  }
  for (const chunk of table.chunks(encodeKeyString(valuesAt(shardKey, from)))) {
    const isOwn = chunk.shard === node.context.address
    if (!isOwn) end(from)
    else begun ??= { ...below, at: from }
    const to = positionOfKeyString(chunk.max)
    const through = chunk.max === table.globalMax ? range : sizeOfSome(range, documentsBelow(range, to))
    const bytes = through.bytes - below.bytes
    if (isGrowth && isOwn && through.documents > below.documents) autoSplitter.noteWritten(placement, chunk, bytes)
    below = { documents: through.documents, bytes: through.bytes }
    if (below.documents === range.documents) break
    from = to
  }
  end(endOf(range))
  return own
}
