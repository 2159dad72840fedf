import { errorDocument } from '@shardlab/bson'
import type { ShardHandlers } from '../host/handlers.js'
import type { Migrations } from './migrations.js'

export const migrationHandlers: ShardHandlers<
  | 'shard.move-range'
  | 'shard.receive-range'
  | 'shard.receive-status'
  | 'shard.receive-commit'
  | 'shard.migrate-clone'
  | 'shard.transfer-mods'
  | 'shard.apply-migration-decision',
  { readonly migrations: Migrations }
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
  async 'shard.receive-commit'({ migrations }, { migrationId }) {
    return { counts: await migrations.recipient(migrationId).commit(), error: null }
  },
  'shard.migrate-clone'({ migrations }, { migrationId, batch, documentsMax }) {
    const { documents, sizes = null, last } = migrations.source(migrationId).clone(batch, documentsMax)
    return { documents, sizes, last, error: null }
  },
  'shard.transfer-mods'({ migrations }, { migrationId, batch }) {
    const { deleted, reloaded, sessions, sizes = null } = migrations.source(migrationId).mods(batch)
    return { deleted, reloaded, sessions, sizes, error: null }
  },
  'shard.apply-migration-decision': ({ migrations }, { migrationId, decision }) =>
    migrations.applyDecision(migrationId, decision).then(withoutError),
}

function withoutError(): { readonly error: null } {
  return { error: null }
}
