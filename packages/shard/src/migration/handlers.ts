import { errorDocument } from '@shardlab/bson'
import { withLastingSessions } from '../cloning/lasting-sessions.js'
import type { ShardHandlers } from '../host/handlers.js'
import type { ShardHost } from '../host/host.js'
import type { Migrations } from './migrations.js'

interface MigrationsHost extends ShardHost {
  readonly migrations: Migrations
}

export const migrationHandlers: ShardHandlers<
  | 'shard.move-range'
  | 'shard.receive-range'
  | 'shard.receive-status'
  | 'shard.receive-commit'
  | 'shard.migrate-clone'
  | 'shard.transfer-mods'
  | 'shard.apply-migration-decision',
  MigrationsHost
> = {
  'shard.move-range': ({ migrations }, request) => migrations.moveRange(request).then(withoutError),
  'shard.receive-range'({ migrations }, request) {
    migrations.receive(request)
    return { error: null }
  },
  async 'shard.receive-status'({ migrations }, { migrationId }) {
    const { state, counts, reason } = await migrations.recipient(migrationId).status()
    return { state, counts, reason: reason === null ? null : errorDocument(reason), error: null }
  },
  async 'shard.receive-commit'({ migrations, node }, { migrationId }) {
    const counts = await migrations.recipient(migrationId).commit()
    return { counts, clusterTime: node.clock.time, error: null }
  },
  'shard.migrate-clone'({ migrations }, { migrationId, batch, documentsMax }) {
    const { documents, sizes = null, last } = migrations.source(migrationId).clone(batch, documentsMax)
    return { documents, sizes, last, error: null }
  },
  async 'shard.transfer-mods'({ migrations, node }, { migrationId, batch }) {
    const mods = await withLastingSessions(node, migrations.source(migrationId).mods(batch))
    const { deleted, reloaded, sessions, sizes = null } = mods
    return { deleted, reloaded, sessions, sizes, error: null }
  },
  'shard.apply-migration-decision'({ migrations, node }, { migrationId, decision, clusterTime }) {
    // What this shard writes to the range from now on is later than the move.
    node.clock.advance(clusterTime)
    return migrations.applyDecision(migrationId, decision).then(withoutError)
  },
}

function withoutError(): { readonly error: null } {
  return { error: null }
}
