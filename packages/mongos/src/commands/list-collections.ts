import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, FieldIterator } from '@shardlab/bson'
import { authorizedFilter, batchSizeOf, listCollectionsSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { writeEmptyCursor } from '../cursors/cursor-reply.js'
import { openOnOne } from '../reads/open-cursor.js'
import { configCommand, primaryCommand, withDatabase } from '../routing/primary.js'
import { isConfigDatabase } from '../routing/route.js'

export const listCollections: CommandRow<MongosInvocation> = {
  ...listCollectionsSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Lists the collections and views of a database, read from its primary shard.',
  run(given) {
    const invocation = withAuthorizedFilter(given)
    const { args, db } = invocation
    const traits = { noTimeout: false, batchSize: batchSizeOf(args) }
    if (isConfigDatabase(db)) return openOnOne(invocation, configAddress, configCommand(invocation), traits)
    return withDatabase(invocation, db, false, async (database) =>
      database === null
        ? writeEmptyCursor(`${db}.$cmd.listCollections`)
        : openOnOne(invocation, database.primaryShard, primaryCommand(invocation, database), traits),
    )
  },
}

/** Shards do not know the user. */
function withAuthorizedFilter(invocation: MongosInvocation): MongosInvocation {
  const { args, body } = invocation
  const filter = args.document('filter') ?? emptyDocument
  const authorized = authorizedFilter(invocation, filter)
  if (authorized === filter) return invocation
  const writer = new DocumentWriter(body.length + authorized.length)
  for (const it = new FieldIterator(body); it.next();) if (it.name() !== 'filter') writer.value(it.name(), it.value())
  return { ...invocation, body: writer.document('filter', authorized).finish() }
}
