import { emptyDocument, exchange, type ErrorField } from './exchange.js'

/** Requests to the config server about zones: which shards carry them, which ranges belong to them. */
export const zoneExchanges = {
  /** Nothing happens when the shard carries the zone already. */
  'config.add-shard-to-zone': exchange<{ shard: string; zone: string }, { error: ErrorField }>(
    { shard: 'shard01', zone: 'EU' },
    { error: null },
  ),
  /** Nothing happens when the shard does not carry the zone. */
  'config.remove-shard-from-zone': exchange<{ shard: string; zone: string }, { error: ErrorField }>(
    { shard: 'shard01', zone: 'EU' },
    { error: null },
  ),
  /** Gives a range of a collection's shard keys to a zone; `zone` null: takes exactly this range out of its zone, if it is in one. */
  'config.update-zone-key-range': exchange<
    { ns: string; min: Uint8Array; max: Uint8Array; zone: string | null },
    { error: ErrorField }
  >({ ns: 'test.c', min: emptyDocument, max: emptyDocument, zone: 'EU' }, { error: null }),
  /** The config.tags documents of a collection, by their lower bounds. */
  'config.get-zones': exchange<{ ns: string }, { zones: readonly Uint8Array[] }>(
    { ns: 'test.c' },
    { zones: [emptyDocument] },
  ),
}
