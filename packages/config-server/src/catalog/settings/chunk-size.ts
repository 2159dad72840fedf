import { findField } from '@shardlab/bson'
import type { CatalogHost } from '../host.js'

const bytesPerMegabyte = 1024 * 1024

/** The collection's limit, otherwise the cluster's. */
export function maxChunkSizeBytes(
  { store, behaviours }: Pick<CatalogHost, 'store' | 'behaviours'>,
  collection: Uint8Array | null,
): number {
  const own = collection === null ? undefined : findField(collection, 'maxChunkSizeBytes')
  if (own?.isNumber() === true && own.asNumber() > 0) return own.asNumber()
  const setting = store.get('config.settings', 'chunksize')
  const megabytes = setting === null ? undefined : findField(setting, 'value')
  return megabytes?.isNumber() === true && megabytes.asNumber() > 0
    ? Math.trunc(megabytes.asNumber() * bytesPerMegabyte)
    : behaviours.defaultChunkSizeBytes
}
