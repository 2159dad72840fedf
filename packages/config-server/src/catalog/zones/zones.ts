/** Server: sharding_catalog_manager_zone_operations.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import {
  arrayIndexName,
  BsonType,
  CommandError,
  compareDocuments,
  DocumentWriter,
  elementsOf,
  fieldsOf,
  findField,
  minKeyValue,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { isHashedBound, isHashedElement } from '@shardlab/sharding'
import { stringFilter } from '../store/catalog-store.js'
import { withFields } from '../store/document-changes.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'
import { checkStorableKey } from '../store/storable-key.js'

export const zoneHandlers: ConfigHandlers<
  'config.add-shard-to-zone' | 'config.remove-shard-from-zone' | 'config.update-zone-key-range' | 'config.get-zones'
> = {
  'config.add-shard-to-zone': addShardToZone,
  'config.remove-shard-from-zone': removeShardFromZone,
  'config.update-zone-key-range': updateZoneKeyRange,
  'config.get-zones': (catalog, { ns }) => ({ zones: catalog.zonesOf(ns) }),
}

async function addShardToZone(
  catalog: CatalogHost,
  { shard, zone }: RequestOf<'config.add-shard-to-zone'>,
): Promise<ReplyOf<'config.add-shard-to-zone'>> {
  const document = shardOf(catalog, shard)
  const zones = zonesOfShard(document)
  if (!zones.includes(zone)) {
    catalog.store.put('config.shards', withFields(document, { tags: namesValue([...zones, zone]) }))
    await catalog.node.flushToMajority()
  }
  return { error: null }
}

async function removeShardFromZone(
  catalog: CatalogHost,
  { shard, zone }: RequestOf<'config.remove-shard-from-zone'>,
): Promise<ReplyOf<'config.remove-shard-from-zone'>> {
  const document = shardOf(catalog, shard)
  if (isOnlyShardOfUsedZone(catalog, document, zone))
    throw new CommandError('ZoneStillInUse', 'cannot remove a shard from zone if a chunk range is associated with it')
  const zones = zonesOfShard(document)
  if (zones.includes(zone)) {
    const left = zones.filter((each) => each !== zone)
    catalog.store.put('config.shards', withFields(document, { tags: namesValue(left) }))
    await catalog.node.flushToMajority()
  }
  return { error: null }
}

/**
 * Without this shard, the zone would have ranges but no shard. Server:
 * _isShardRequiredByZoneStillInUse.
 */
export function isOnlyShardOfUsedZone(catalog: CatalogHost, shard: Uint8Array, zone: string): boolean {
  const carriers = catalog.store.find('config.shards', stringFilter('tags', zone))
  const id = findField(shard, '_id')!.asString()
  if (carriers.length !== 1 || findField(carriers[0]!, '_id')!.asString() !== id) return false
  return catalog.store.find('config.tags', stringFilter('tag', zone)).length > 0
}

export function zonesOfShard(shard: Uint8Array): string[] {
  const tags = findField(shard, 'tags')
  return tags?.type === BsonType.array ? elementsOf(tags).map((tag) => tag.asString()) : []
}

function namesValue(names: readonly string[]): RawValue {
  const writer = new DocumentWriter(128).startArray('names')
  names.forEach((name, i) => writer.string(arrayIndexName(i), name))
  return findField(writer.end().finish(), 'names')!
}

/** @throws CommandError 70 ShardNotFound */
function shardOf(catalog: CatalogHost, shard: string): Uint8Array {
  const document = catalog.store.get('config.shards', shard)
  if (document === null) throw new CommandError('ShardNotFound', `shard ${shard} does not exist`)
  return document
}

interface Range {
  readonly min: Uint8Array
  readonly max: Uint8Array
}

async function updateZoneKeyRange(
  catalog: CatalogHost,
  { ns, min, max, zone }: RequestOf<'config.update-zone-key-range'>,
): Promise<ReplyOf<'config.update-zone-key-range'>> {
  const given = { min, max }
  if (zone === null) {
    const [range] = fullRange(catalog, ns, given)
    for (const tag of catalog.zonesOf(ns)) {
      if (
        compareDocuments(boundOf(tag, 'min'), range.min) === 0 &&
        compareDocuments(boundOf(tag, 'max'), range.max) === 0
      )
        catalog.store.remove('config.tags', tag)
    }
    await catalog.node.flushToMajority()
    return { error: null }
  }
  checkStorableKey(min)
  checkStorableKey(max)
  if (catalog.store.find('config.shards', stringFilter('tags', zone)).length === 0)
    throw new CommandError('ZoneNotFound', `zone ${zone} does not exist`)
  const [range, pattern] = fullRange(catalog, ns, given)
  if (catalog.behaviours.zoneBoundsOfHashedFieldsAreChecked) checkHashedFields(range, pattern)
  checkOverlap(catalog, ns, range, zone, pattern)
  const known = catalog.zonesOf(ns).find((tag) => compareDocuments(boundOf(tag, 'min'), range.min) === 0)
  catalog.store.put('config.tags', tagDocument(catalog, ns, range, zone, known))
  await catalog.node.flushToMajority()
  return { error: null }
}

function tagDocument(
  catalog: CatalogHost,
  ns: string,
  { min, max }: Range,
  zone: string,
  known: Uint8Array | undefined,
): Uint8Array {
  const writer = new DocumentWriter(256)
  if (known !== undefined) writer.value('_id', findField(known, '_id')!)
  else if (catalog.behaviours.zoneRangesHaveObjectIds) writer.objectId('_id', catalog.node.newObjectId())
  else writer.startDocument('_id').string('ns', ns).document('min', min).end()
  return writer.string('ns', ns).document('min', min).document('max', max).string('tag', zone).finish()
}

function boundOf(tag: Uint8Array, name: 'min' | 'max'): Uint8Array {
  return findField(tag, name)!.slice()
}

/**
 * Extends the range to all fields of the shard key. Of an unsharded collection, returns the given
 * range and its fields.
 * @throws CommandError 61 ShardKeyNotFound
 */
function fullRange(catalog: CatalogHost, ns: string, given: Range): [Range, pattern: Uint8Array] {
  const collection = catalog.collection(ns)
  if (collection === null) return [given, sharedFields(given)]
  const pattern = findField(collection, 'key')!.slice()
  for (const name of ['min', 'max'] as const) {
    if (!isFieldNamePrefix(given[name], pattern))
      throw new CommandError(
        'ShardKeyNotFound',
        `${name}: ${formatDocument(given[name])} is not a prefix of the shard key ${formatDocument(pattern)} of ns: ${ns}`,
      )
  }
  return [{ min: extendBound(given.min, pattern), max: extendBound(given.max, pattern) }, pattern]
}

/** @throws CommandError 61 ShardKeyNotFound when the bounds have different fields */
function sharedFields({ min, max }: Range): Uint8Array {
  const names = fieldsOf(min).map(([name]) => name)
  const others = fieldsOf(max).map(([name]) => name)
  if (names.length !== others.length || names.some((name, i) => name !== others[i]))
    throw new CommandError(
      'ShardKeyNotFound',
      `the shard key of min ${formatDocument(min)} doesn't match with the shard key of max ${formatDocument(max)}`,
    )
  const pattern = new DocumentWriter(64)
  for (const name of names) pattern.int32(name, 1)
  return pattern.finish()
}

export function isFieldNamePrefix(bound: Uint8Array, pattern: Uint8Array): boolean {
  const names = fieldsOf(pattern).map(([name]) => name)
  return fieldsOf(bound).every(([name], i) => name === names[i])
}

/**
 * Adds MinKey for missing fields, at both ends of a range. Server: KeyPattern::extendRangeBound.
 */
export function extendBound(bound: Uint8Array, pattern: Uint8Array): Uint8Array {
  const given = fieldsOf(bound)
  const writer = new DocumentWriter(64)
  fieldsOf(pattern).forEach(([name], i) => writer.value(name, given[i]?.[1] ?? minKeyValue))
  return writer.finish()
}

/** @throws CommandError 72 InvalidOptions */
function checkHashedFields(range: Range, pattern: Uint8Array): void {
  const min = fieldsOf(range.min)
  const max = fieldsOf(range.max)
  fieldsOf(pattern).forEach(([, kind], i) => {
    if (!isHashedElement(kind) || (isHashedBound(min[i]![1]) && isHashedBound(max[i]![1]))) return
    throw new CommandError(
      'InvalidOptions',
      `there exists a field in the range ${formatDocument(range.min)} -->> ${formatDocument(range.max)} not of type NumberLong, MinKey, or MaxKey which corresponds to a hashed field in the shard key pattern ${formatDocument(pattern)}`,
    )
  })
}

/**
 * The same range in the same zone is no overlap.
 * @throws CommandError 178 RangeOverlapConflict
 */
function checkOverlap(catalog: CatalogHost, ns: string, range: Range, zone: string, pattern: Uint8Array): void {
  const text = ({ min, max }: Range, name: string) => `${formatDocument(min)} -->> ${formatDocument(max)}  on  ${name}`
  for (const tag of catalog.zonesOf(ns)) {
    // Ranges written before the collection was sharded may have fewer fields.
    const other = { min: extendBound(boundOf(tag, 'min'), pattern), max: extendBound(boundOf(tag, 'max'), pattern) }
    const name = findField(tag, 'tag')!.asString()
    const same = compareDocuments(other.min, range.min) === 0 && compareDocuments(other.max, range.max) === 0
    if (
      compareDocuments(other.min, range.max) >= 0 ||
      compareDocuments(range.min, other.max) >= 0 ||
      (same && name === zone)
    )
      continue
    throw new CommandError(
      'RangeOverlapConflict',
      `Zone range: ${text(range, zone)} is overlapping with existing: ${text(other, name)}`,
    )
  }
}
