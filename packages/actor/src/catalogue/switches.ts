import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** Requests that set or read settings of an administrator. */
export const switchExchanges = {
  /**
   * Sets how a collection is balanced, in config.collections; null: unchanged. `chunkSizeMb` 0: the
   * cluster's default.
   */
  'config.configure-collection-balancing': exchange<
    { ns: string; chunkSizeMb: number | null; defragmentCollection: boolean | null; enableAutoMerger: boolean | null },
    { error: ErrorField }
  >({ ns: 'test.c', chunkSizeMb: 1, defragmentCollection: true, enableAutoMerger: true }, { error: null }),
  /** Sets whether chunks of a collection may be moved. */
  'config.set-allow-migrations': exchange<{ ns: string; allowMigrations: boolean }, { error: ErrorField }>(
    { ns: 'test.c', allowMigrations: false },
    { error: null },
  ),
  /** Sets the feature compatibility version of the cluster. */
  'config.set-feature-compatibility-version': exchange<{ version: string }, { error: ErrorField }>(
    { version: '6.0' },
    { error: null },
  ),
  'shard.set-feature-compatibility-version': exchange<{ version: string }, Empty>({ version: '6.0' }, {}),
  /** A document of config.settings; null: it does not exist. */
  'config.get-setting': exchange<{ id: string }, { setting: Uint8Array | null }>(
    { id: 'chunksize' },
    { setting: emptyDocument },
  ),
  /**
   * Whether a collection is balanced. `violation` null: it is. `details`: a document about the
   * violation, or null.
   */
  'balancer.collection-status': exchange<
    { ns: string },
    { chunkSizeBytes: number; violation: string | null; details: Uint8Array | null; error: ErrorField }
  >({ ns: 'test.c' }, { chunkSizeBytes: 134217728, violation: 'draining', details: emptyDocument, error: null }),
}
