import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import { dropIndexesSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { changeDefinition } from '../routing/change-definition.js'
import { rawReplies, writeRaw, type SuccessfulAnswers } from '../routing/raw-replies.js'
import { isConfigDatabase } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const dropIndexes: CommandRow<MongosInvocation> = {
  ...dropIndexesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D607'],
  summary: 'Drops indexes on every shard that owns a part of the collection.',
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    if (isConfigDatabase(db) && host.behaviours.catalogCollectionsCannotBeDropped)
      throw new CommandError('IllegalOperation', `Cannot drop indexes in '${db}' database in sharded cluster`)
    if (host.behaviours.definitionChangesAreCoordinated && !isConfigDatabase(db)) return drop(invocation, ns)
    const done: SuccessfulAnswers = new Map()
    return withRoute(invocation, ns, false, (route) => {
      if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), false)
      if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `ns not found ${ns}`)
      return rawReplies(invocation, route, { done })
    })
  },
}

async function drop(invocation: MongosInvocation, ns: string): Promise<DocumentWriter> {
  const change = { command: 'dropIndexes', notFound: `ns not found ${ns}`, idempotent: false } as const
  return writeRaw(invocation, (await changeDefinition(invocation, change)).answers)
}
