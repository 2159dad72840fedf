import { CommandError } from '@shardlab/bson'
import { soleMember, type Route } from './route.js'

/** @throws CommandError 26 NamespaceNotFound without a database */
export function owningMembers(route: Route, db: string): readonly string[] {
  if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  return route.kind === 'sharded' ? route.placement.table.owners() : [soleMember(route)]
}
