/** Server: migration_source_manager.cpp, chunk_operation_precondition_checks.cpp. */
import type { RequestOf } from '@shardlab/actor'
import { CommandError, sameBytes, toExtendedJson } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import {
  formatRange,
  placementVersionText,
  sameGeneration,
  type CollectionPlacement,
  type PlacementVersion,
} from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { noSize, type RangeSource } from '../../ranges/collection-ranges.js'
import type { MigrationHost } from '../migration-host.js'
import { isBoundOf, KeyedRange, keysOf, type KeyRange } from '../../ranges/key-range.js'

type MoveRequest = RequestOf<'shard.move-range'>

/** @throws CommandError 13388 StaleConfig, 26 NamespaceNotFound */
export async function donatedPlacement(
  { node, placements, versions }: Pick<MigrationHost, 'node' | 'placements' | 'versions'>,
  { ns, chunkVersion }: MoveRequest,
): Promise<CollectionPlacement> {
  const placement = await placements.refreshCollection(ns)
  if (placement === null) throw versions.stale(ns, `Collection ${ns} is not sharded`)
  donatedCollection(node, ns, placement.uuid)
  if (!sameGeneration(placement.table.version, chunkVersion)) {
    const [sent, current] = [chunkVersion[0], placement.table.version[0]]
    throw versions.stale(
      ns,
      `Collection ${ns} has changed since operation was sent (sent epoch: ${sent}, current epoch: ${current})`,
    )
  }
  if (placement.table.chunksOn(node.context.address) === 0)
    throw versions.stale(ns, 'Shard does not contain any chunks for collection.')
  return placement
}

export function donatedCollection(node: NodeHost, ns: string, uuid: Uint8Array): Collection {
  const collection = node.collection(ns)
  if (collection === undefined || !sameBytes(collection.uuid, uuid))
    throw new CommandError(
      'NamespaceNotFound',
      'The collection was not found locally even though it is marked as sharded.',
    )
  return collection
}

/** @throws CommandError 13388 StaleConfig for bounds that do not match the shard key */
export function donatedRange(
  { node, ranges, versions }: Pick<MigrationHost, 'node' | 'ranges' | 'versions'>,
  { min, max, chunkMin, chunkMax, maxChunkSizeBytes }: MoveRequest,
  { shardKey, ns }: CollectionPlacement,
): KeyRange {
  const given = new KeyedRange(min ?? chunkMin, max ?? chunkMax)
  if (!isBoundOf(shardKey, given.min) || !isBoundOf(shardKey, given.max)) {
    throw versions.stale(
      ns,
      `The range ${formatRange(given.min, given.max)} is not valid for collection ${ns} with key pattern ${toExtendedJson(shardKey.document)}`,
    )
  }
  const other = (reverse: boolean) =>
    ranges.of(node.collection(ns)!).otherBound({ shardKey, chunk: given, maxChunkSizeBytes, reverse })
  if (min === null) return new KeyedRange(other(true), given.max)
  return max === null ? new KeyedRange(min, other(false)) : given
}

/** The version of the chunk that contains the range. @throws CommandError 13388 StaleConfig */
export function versionOfChunk(
  { node, versions }: Pick<MigrationHost, 'node' | 'versions'>,
  { table, ns }: CollectionPlacement,
  range: KeyRange,
): PlacementVersion {
  const [min, max] = keysOf(range)
  const chunk = table.chunkAt(min)
  const isWithin = min >= chunk.min && min < max && max <= chunk.max
  if (chunk.shard !== node.context.address || !isWithin)
    throw versions.stale(
      ns,
      `Range with bounds ${formatRange(range.min, range.max)} is not contained within a chunk owned by this shard.`,
    )
  if (!node.behaviours.moveRangeCommand && (min !== chunk.min || max !== chunk.max))
    throw versions.stale(
      ns,
      `Unable to find chunk with the exact bounds ${formatRange(range.min, range.max)} at collection version ${placementVersionText(table.version, node.behaviours.chunksAreKeyedByUuid)}`,
    )
  const [epoch, seconds, increment] = table.version
  return [epoch, seconds, increment, chunk.major, chunk.minor]
}

/**
 * Whether few enough changes remain to block writes. A recipient under load never catches up
 * completely.
 * Server: MigrationChunkClonerSource::_checkRecipientCloningStatus.
 */
export function isNearlyCaughtUp(
  { node, ranges }: Pick<MigrationHost, 'node' | 'ranges'>,
  { ns, maxChunkSizeBytes }: MoveRequest,
  { waitingChanges }: Pick<RangeSource, 'waitingChanges'>,
): boolean {
  const collection = node.collection(ns)
  const { documents, bytes } = collection === undefined ? noSize : ranges.of(collection).totals
  const waitingBytes = waitingChanges * (bytes / Math.max(1, documents))
  const percentage = Math.trunc((Math.min(maxChunkSizeBytes, waitingBytes) * 100) / maxChunkSizeBytes)
  return percentage < node.parameters.number('maxCatchUpPercentageBeforeBlockingWrites')
}
