import { emptyDocument, exchange, type ErrorField } from './exchange.js'

export const zoneExchanges = {
  /** No effect when the shard is in the zone already. */
  'config.add-shard-to-zone': exchange<{ shard: string; zone: string }, { error: ErrorField }>(
    { shard: 'shard01', zone: 'EU' },
    { error: null },
  ),
  /** No effect when the shard is not in the zone. */
  'config.remove-shard-from-zone': exchange<{ shard: string; zone: string }, { error: ErrorField }>(
    { shard: 'shard01', zone: 'EU' },
    { error: null },
  ),
  /** `zone` null: removes exactly this range from its zone, if it has one. */
  'config.update-zone-key-range': exchange<
    { ns: string; min: Uint8Array; max: Uint8Array; zone: string | null },
    { error: ErrorField }
  >({ ns: 'test.c', min: emptyDocument, max: emptyDocument, zone: 'EU' }, { error: null }),
  /** The config.tags documents, ordered by lower bound. */
  'config.get-zones': exchange<{ ns: string }, { zones: readonly Uint8Array[] }>(
    { ns: 'test.c' },
    { zones: [emptyDocument] },
  ),
}
