/** Documents that a scenario has written without writing any. */
import { unpackRanges, type SizedRange } from '@shardlab/actor'
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, encodeKeyString } from '@shardlab/bson'
import type { ChunkEntry, CollectionPlacement } from '@shardlab/sharding'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'
import { comparePositions, positionOfKeyString, valuesAt } from './position.js'
import { cutRange, documentsBelow, endOf, hasOneKey, startOf } from './sized-range.js'

export const measureHandlers: ShardHandlers<'shard.measure'> = { 'shard.measure': measure }

/**
 * What of these ranges is this shard's grows; the rest is left out. It waits as writes do while the placement changes.
 * @throws CommandError 26 NamespaceNotFound, 115 CommandNotSupported for a collection that is not measured
 */
async function measure(parts: ShardParts, { ns, ranges }: RequestOf<'shard.measure'>): Promise<ReplyOf<'shard.measure'>> {
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
  if (collection === undefined && placement.table.chunksOn(node.context.address) === 0) return { documents: 0, bytes: 0, error: null }
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
  const own: SizedRange[] = []
  let isNext = false
  for (const [part, chunk] of partsIn(placement, range)) {
    const isOwn = chunk.shard === node.context.address
    if (isOwn) {
      autoSplitter.noteGrowth(placement, chunk, part.bytes)
      const last = isNext ? own.at(-1) : undefined
      if (last === undefined) own.push(part)
      else own[own.length - 1] = together(last, part)
    }
    isNext = isOwn
  }
  return own
}

/** Two parts of one range, without anything between them. */
function together(low: SizedRange, high: SizedRange): SizedRange {
  return { ...low, x1: high.x1, y1: high.y1, documents: low.documents + high.documents, bytes: low.bytes + high.bytes }
}

/** A range by the chunks in which its documents are. */
function* partsIn({ table, shardKey }: CollectionPlacement, range: SizedRange): Generator<readonly [SizedRange, ChunkEntry]> {
  let rest = range
  for (const chunk of table.chunks(encodeKeyString(valuesAt(shardKey, startOf(range))))) {
    if (chunk.max === table.globalMax) return yield [rest, chunk]
    const end = positionOfKeyString(chunk.max)
    if (comparePositions(endOf(rest), end) <= 0 || (hasOneKey(rest) && comparePositions(startOf(rest), end) < 0)) return yield [rest, chunk]
    const cut = cutRange(rest, end)
    if (cut !== null) {
      yield [cut[0], chunk]
      rest = cut[1]
    } else if (documentsBelow(rest, end) > 0) return yield [rest, chunk]
  }
}
