import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, findField, type DocumentWriter } from '@shardlab/bson'
import { createIndexesFields } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { MongosInvocation } from '../command/invocation.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { rawReplies } from '../routing/raw-replies.js'
import type { Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const createIndexes: CommandRow<MongosInvocation> = {
  name: 'createIndexes',
  routing: 'all-shards',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/createIndexes',
  status: 'full',
  summary: 'Builds indexes on every shard that owns a part of the collection.',
  fields: createIndexesFields,
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, true, (route) =>
      route.kind === 'config' ? passThrough(invocation, configAddress, configCommand(invocation), true) : createOn(invocation, route),
    )
  },
}

function createOn(invocation: MongosInvocation, route: Route): Promise<DocumentWriter> {
  if (route.kind === 'sharded') checkUniqueness(invocation, route.placement)
  return rawReplies(invocation, route)
}

/** An index that could only be unique on each shard by itself is refused. */
function checkUniqueness({ args }: MongosInvocation, { shardKey }: CollectionPlacement): void {
  for (const spec of args.documents('indexes')!) {
    if (findField(spec, 'unique')?.isTruthy() !== true) continue
    const key = findField(spec, 'key')
    if (key?.type !== BsonType.object || shardKey.allowsUniqueIndex(key.slice())) continue
    throw new CommandError(
      'CannotCreateIndex',
      `cannot create unique index over ${formatDocument(key.slice())} with shard key pattern ${formatDocument(shardKey.document)}`,
    )
  }
}
