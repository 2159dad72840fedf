/** Documents that a scenario has written without writing any. */
import { unpackRanges, type SizedRange } from '@shardlab/actor'
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, encodeKeyString } from '@shardlab/bson'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { ShardHandlers, ShardParts } from '../../shard-parts.js'
import { positionOfKeyString, valuesAt, type Position } from './position.js'
import { documentsBelow, endOf, noSize, sizeOfSome, startOf, type Size } from './sized-range.js'

export const measureHandlers: ShardHandlers<'shard.measure'> = { 'shard.measure': measure }

/**
 * What of these ranges is this shard's grows; the rest is left out. It waits as writes do while the placement changes.
 * @throws CommandError 26 NamespaceNotFound, 115 CommandNotSupported for a collection that is not measured
 */
async function measure(
  parts: ShardParts,
  { ns, ranges }: RequestOf<'shard.measure'>,
): Promise<ReplyOf<'shard.measure'>> {
  const { node, state, critical, measured } = parts
  let placement: CollectionPlacement | null | undefined
  for (;;) {
    const blocking = critical.blocking(ns)
    if (blocking !== undefined) {
      await blocking
      continue
    }
    placement = state.collection(ns)
    if (placement !== undefined) break
    await state.refreshCollection(ns)
  }
  if (placement === null) throw new CommandError('NamespaceNotFound', `Collection ${ns} is not sharded`)
  const collection = node.collection(ns)
  const known = collection === undefined ? undefined : measured.of(collection)
  // A shard without chunks need not have the collection.
  if (collection === undefined && placement.table.chunksOn(node.context.address) === 0)
    return { documents: 0, bytes: 0, error: null }
  if (known === undefined) throw new CommandError('CommandNotSupported', `${ns} is not measured`)
  let [documents, bytes] = [0, 0]
  for (const range of unpackRanges(ranges)) {
    for (const part of ownParts(parts, placement, range)) {
      known.grow(part)
      documents += part.documents
      bytes += part.bytes
    }
  }
  return { documents, bytes, error: null }
}

/** What lies in this shard's chunks, that of neighbouring ones in one piece: thousands of chunks that are filled at once are one range. */
function ownParts({ node, autoSplitter }: ShardParts, placement: CollectionPlacement, range: SizedRange): SizedRange[] {
  const { table, shardKey } = placement
  const own: SizedRange[] = []
  /** Where the piece begins that grows now, and what lies below it; null: this shard has nothing here. */
  let begun: (Size & { readonly at: Position }) | null = null
  let below: Size = noSize
  let from = startOf(range)
  const end = (at: Position): void => {
    if (begun === null) return
    const documents = below.documents - begun.documents
    if (documents > 0)
      own.push({ x0: begun.at.x, y0: begun.at.y, x1: at.x, y1: at.y, documents, bytes: below.bytes - begun.bytes })
    begun = null
  }
  for (const chunk of table.chunks(encodeKeyString(valuesAt(shardKey, from)))) {
    const isOwn = chunk.shard === node.context.address
    if (!isOwn) end(from)
    else begun ??= { ...below, at: from }
    const to = positionOfKeyString(chunk.max)
    const through = chunk.max === table.globalMax ? range : sizeOfSome(range, documentsBelow(range, to))
    const bytes = through.bytes - below.bytes
    if (isOwn && through.documents > below.documents) autoSplitter.noteGrowth(placement, chunk, bytes)
    below = { documents: through.documents, bytes: through.bytes }
    if (below.documents === range.documents) break
    from = to
  }
  end(endOf(range))
  return own
}
