import { compareDocuments, elementsOf, findField } from '@shardlab/bson'
import type { CatalogHost } from '../host.js'

/**
 * The largest difference in chunks between two shards, over all zones. Chunks outside of zones
 * count as a zone of all shards. Server: resharding::getMaxChunkImbalanceCount.
 */
export function chunkImbalance(catalog: CatalogHost, entry: Uint8Array): number {
  const field = (document: Uint8Array, name: string) => findField(document, name)!
  const shards = catalog.store.all('config.shards').map((document) => {
    const tags = findField(document, 'tags')
    return {
      id: field(document, '_id').asString(),
      zones: tags === undefined ? [] : elementsOf(tags).map((tag) => tag.asString()),
    }
  })
  const ranges = catalog.zonesOf(field(entry, '_id').asString()).map((document) => ({
    zone: field(document, 'tag').asString(),
    min: field(document, 'min').slice(),
    max: field(document, 'max').slice(),
  }))
  const zoneOf = (min: Uint8Array): string | null =>
    ranges.find((range) => compareDocuments(range.min, min) <= 0 && compareDocuments(min, range.max) < 0)?.zone ?? null
  const counts = new Map<string | null, Map<string, number>>()
  for (const zone of [null, ...ranges.map((range) => range.zone)]) {
    const allowed = shards.filter(({ zones }) => zone === null || zones.includes(zone))
    counts.set(zone, new Map(allowed.map(({ id }) => [id, 0])))
  }
  for (const chunk of catalog.chunks(entry)) {
    const ofZone = counts.get(zoneOf(field(chunk, 'min').slice()))!
    const shard = field(chunk, 'shard').asString()
    ofZone.set(shard, (ofZone.get(shard) ?? 0) + 1)
  }
  return Math.max(
    0,
    ...[...counts.values()]
      .filter(({ size }) => size > 0)
      .map((of) => Math.max(...of.values()) - Math.min(...of.values())),
  )
}
