import { configAddress } from '@shardlab/actor'
import { CommandError, type DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from './primary.js'
import { placementOf, routedCommand } from './route.js'
import { withRoute } from './stale-loop.js'

/**
 * @param refusal error text for a sharded or moved collection
 * @throws CommandError 20 IllegalOperation, 26 NamespaceNotFound without the database
 */
export function onUnsharded(invocation: MongosInvocation, refusal: string): Promise<DocumentWriter> {
  const { args, db, body, sequences } = invocation
  const ns = `${db}.${args.collectionName(db)}`
  return withRoute(invocation, ns, false, (route) => {
    // The command would give a moved collection another UUID than the catalog's.
    if (placementOf(route) !== null) throw new CommandError('IllegalOperation', refusal)
    if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `source collection ${ns} does not exist`)
    if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), false)
    if (route.kind === 'sharded') throw new Error('sharded collections have a placement')
    const { primaryShard } = route.database
    return passThrough(invocation, primaryShard, routedCommand(invocation, route, primaryShard, body, sequences), false)
  })
}
