import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

export const switchExchanges = {
  /** Stored in config.collections. null: unchanged. `chunkSizeMb` 0: the cluster's default. */
  'config.configure-collection-balancing': exchange<
    { ns: string; chunkSizeMb: number | null; defragmentCollection: boolean | null; enableAutoMerger: boolean | null },
    { error: ErrorField }
  >({ ns: 'test.c', chunkSizeMb: 1, defragmentCollection: true, enableAutoMerger: true }, { error: null }),
  'config.set-allow-migrations': exchange<{ ns: string; allowMigrations: boolean }, { error: ErrorField }>(
    { ns: 'test.c', allowMigrations: false },
    { error: null },
  ),
  'config.set-feature-compatibility-version': exchange<{ version: string }, { error: ErrorField }>(
    { version: '6.0' },
    { error: null },
  ),
  'shard.set-feature-compatibility-version': exchange<{ version: string }, Empty>({ version: '6.0' }, {}),
  /** `parameter`: `{ name: value }` as a client gave it. */
  'config.set-cluster-parameter': exchange<{ parameter: Uint8Array }, { error: ErrorField }>(
    { parameter: emptyDocument },
    { error: null },
  ),
  /**
   * A client's setQuerySettings or removeQuerySettings. `configuration`: the changed one; null: it
   * was removed, or the command failed. `parameter`: the document of config.clusterParameters.
   */
  'config.change-query-settings': exchange<
    { command: Uint8Array },
    { error: ErrorField; configuration: Uint8Array | null; parameter: Uint8Array | null }
  >({ command: emptyDocument }, { error: null, configuration: emptyDocument, parameter: emptyDocument }),
  /** Documents of config.clusterParameters. */
  'shard.set-cluster-parameters': exchange<{ documents: readonly Uint8Array[] }, Empty>(
    { documents: [emptyDocument] },
    {},
  ),
  /** `setting`: the document in config.settings; null: it does not exist. */
  'config.get-setting': exchange<{ id: string }, { setting: Uint8Array | null }>(
    { id: 'chunksize' },
    { setting: emptyDocument },
  ),
  /**
   * `violation` null: the collection is balanced. `details`: a document about the violation, or
   * null.
   */
  'balancer.collection-status': exchange<
    { ns: string },
    { chunkSizeBytes: number; violation: string | null; details: Uint8Array | null; error: ErrorField }
  >({ ns: 'test.c' }, { chunkSizeBytes: 134217728, violation: 'draining', details: emptyDocument, error: null }),
}
