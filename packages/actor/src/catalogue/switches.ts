import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** Requests that change or tell what an administrator has switched. */
export const switchExchanges = {
  /** What config.collections is to say of how a collection is balanced; null: as it is. `chunkSizeMb` 0: the cluster's. */
  'config.configure-collection-balancing': exchange<
    { ns: string; chunkSizeMb: number | null; defragmentCollection: boolean | null; enableAutoMerger: boolean | null },
    { error: ErrorField }
  >({ ns: 'test.c', chunkSizeMb: 1, defragmentCollection: true, enableAutoMerger: true }, { error: null }),
  /** May chunks of a collection move to other shards? */
  'config.set-allow-migrations': exchange<{ ns: string; allowMigrations: boolean }, { error: ErrorField }>(
    { ns: 'test.c', allowMigrations: false },
    { error: null },
  ),
  /** The whole cluster's feature compatibility version. */
  'config.set-feature-compatibility-version': exchange<{ version: string }, { error: ErrorField }>(
    { version: '6.0' },
    { error: null },
  ),
  'shard.set-feature-compatibility-version': exchange<{ version: string }, Empty>({ version: '6.0' }, {}),
  /** A document of config.settings; null when there is none. */
  'config.get-setting': exchange<{ id: string }, { setting: Uint8Array | null }>(
    { id: 'chunksize' },
    { setting: emptyDocument },
  ),
  /** Does a collection need work of the balancer? `violation` null: it does not. `details`: a document about the violation, or null. */
  'balancer.collection-status': exchange<
    { ns: string },
    { chunkSizeBytes: number; violation: string | null; details: Uint8Array | null; error: ErrorField }
  >({ ns: 'test.c' }, { chunkSizeBytes: 134217728, violation: 'draining', details: emptyDocument, error: null }),
}
