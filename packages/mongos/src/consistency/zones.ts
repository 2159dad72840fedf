/**
 * Checks that the zones of a collection do not overlap and have the fields of its key. Server:
 * metadata_consistency_util.cpp, checkZonesConsistency.
 */
import { compareDocuments, DocumentWriter, findField } from '@shardlab/bson'
import { bound, isShardKey, type CatalogCollection } from './chunks.js'
import { inconsistency } from './inconsistency.js'

/**
 * @param zones config.tags documents, ordered by `min`
 * @throws CommandError 4 NoSuchKey, 14 TypeMismatch for an invalid zone document
 */
export function zoneInconsistencies(
  { ns, uuid, shardKey }: CatalogCollection,
  zones: readonly Uint8Array[],
): Uint8Array[] {
  const found: Uint8Array[] = []
  zones.forEach((zone, i) => {
    // As with chunks, the server never checks the first one alone.
    if (i === 0) return
    if (!isShardKey(shardKey, bound(zone, 'min')) || !isShardKey(shardKey, bound(zone, 'max')))
      found.push(
        inconsistency('CorruptedZoneShardKey', 'Found zone with a shard key pattern violation', ns, (details) =>
          details
            .value('collectionUUID', uuid)
            .document('zone', shownZone(zone))
            .document('shardKeyPattern', shardKey.document),
        ),
      )
    const before = zones[i - 1]!
    if (compareDocuments(bound(before, 'max'), bound(zone, 'min')) > 0)
      found.push(
        inconsistency('ZonesRangeOverlap', 'Found two overlapping zones', ns, (details) =>
          details.value('collectionUUID', uuid).document('zoneA', shownZone(before)).document('zoneB', shownZone(zone)),
        ),
      )
  })
  return found
}

/** Without `_id`. Server: TagsType::toBSON. */
function shownZone(zone: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(zone.length)
  for (const name of ['ns', 'tag', 'min', 'max']) {
    const value = findField(zone, name)
    if (value !== undefined) writer.value(name, value)
  }
  return writer.finish()
}
