import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import { cloneCollectionAsCappedFields, convertToCappedFields } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { routedCommand } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const convertToCapped: CommandRow<MongosInvocation> = {
  name: 'convertToCapped',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/convertToCapped',
  status: 'full',
  summary: 'Turns an unsharded collection into a capped one.',
  fields: convertToCappedFields,
  run: (invocation) => onUnsharded(invocation, "You can't convertToCapped a sharded collection"),
}

export const cloneCollectionAsCapped: CommandRow<MongosInvocation> = {
  name: 'cloneCollectionAsCapped',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/cloneCollectionAsCapped',
  status: 'full',
  summary: 'Makes a capped collection with the newest documents of an unsharded one.',
  fields: cloneCollectionAsCappedFields,
  run: (invocation) => onUnsharded(invocation, "You can't cloneCollectionAsCapped a sharded collection"),
}

function onUnsharded(invocation: MongosInvocation, refusal: string): Promise<DocumentWriter> {
  const { args, db, body, sequences } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return withRoute(invocation, ns, false, (route) => {
    if (route.kind === 'sharded') throw new CommandError('IllegalOperation', refusal)
    if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `source collection ${ns} does not exist`)
    if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), false)
    const { primaryShard } = route.database
    return passThrough(invocation, primaryShard, routedCommand(invocation, route, primaryShard, body, sequences), false)
  })
}
