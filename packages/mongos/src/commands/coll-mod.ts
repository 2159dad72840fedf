import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { collModSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields } from '../remote/command-reply.js'
import { changeDefinition } from '../routing/change-definition.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { rawReplies, writeRaw } from '../routing/raw-replies.js'
import { isConfigDatabase } from '../routing/route.js'
import type { MemberAnswer } from '../routing/scatter.js'
import { withRoute } from '../routing/stale-loop.js'

export const collMod: CommandRow<MongosInvocation> = {
  ...collModSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D607'],
  missing: 'time series collections; until 4.0 usePowerOf2Sizes and noPadding',
  summary: 'Changes options of a collection or an index on every shard that has the collection, or a view.',
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    if (host.behaviours.definitionChangesAreCoordinated && !isConfigDatabase(db)) return modify(invocation)
    return withRoute(invocation, ns, false, async (route) => {
      if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), false)
      if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', 'ns does not exist')
      if (route.kind === 'unsharded') return rawReplies(invocation, route)
      // The primary shard lists the collection's options even if it owns no chunk.
      const database = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, invocation.operation))
      return rawReplies(invocation, route, { further: database === null ? [] : [database.primaryShard] })
    })
  },
}

async function modify(invocation: MongosInvocation): Promise<DocumentWriter> {
  const change = { command: 'collMod', notFound: 'ns does not exist', idempotent: true } as const
  const { sharded, answers } = await changeDefinition(invocation, change)
  if (sharded) return writeRaw(invocation, answers)
  return writeSole(invocation, answers[0]!)
}

/** The reply of the primary shard, and the same under its address. */
function writeSole({ host }: MongosInvocation, { member, body, error }: MemberAnswer): DocumentWriter {
  if (error !== null) throw error
  const writer = copyReplyFields(new DocumentWriter(2 * body.length + 256), body)
  writer.startDocument('raw').startDocument(host.shards.connectionString(member))
  return copyReplyFields(writer, body).end().end()
}
