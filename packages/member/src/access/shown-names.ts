/**
 * Names that a client may learn. Server: list_databases_common.cpp,
 * cluster_list_collections_cmd.cpp.
 */
import { anyResource, clusterResource, databaseResource, type Privileges } from '@shardlab/auth'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Null: access control is off, or the command is from another member. */
function privilegesOfClient({ operation }: MemberInvocation): Privileges | null {
  return operation.access?.privileges ?? null
}

/**
 * Which databases listDatabases shows.
 * @throws CommandError Unauthorized: all are asked for
 */
export function shownDatabases(invocation: MemberInvocation): (db: string) => boolean {
  const privileges = privilegesOfClient(invocation)
  const asked = invocation.args.bool('authorizedDatabases')
  if (privileges === null) return () => true
  const mayListAll = privileges.allows(clusterResource, 'listDatabases')
  if (asked === false && !mayListAll)
    throw new CommandError('Unauthorized', 'Insufficient permissions to list all databases')
  return asked === true || !mayListAll ? (db) => privileges.reachesInto(db) : () => true
}

/** The filter of listCollections with authorizedCollections: names with a privilege. */
export function authorizedFilter(invocation: MemberInvocation, filter: Uint8Array): Uint8Array {
  const { args, db } = invocation
  const privileges = privilegesOfClient(invocation)
  if (privileges === null || args.bool('authorizedCollections') !== true) return filter
  if (privileges.allowsAnything(anyResource)) return filter
  return withNames(filter, db, privileges, privileges.allowsAnything(databaseResource(db)))
}

/** @param withNormal all collections that are not `system.` ones */
function withNames(filter: Uint8Array, db: string, { privileges }: Privileges, withNormal: boolean): Uint8Array {
  const names = privileges.flatMap(({ resource }) =>
    (resource.kind === 'exact' && resource.db === db) || resource.kind === 'collection' ? [resource.collection] : [],
  )
  const writer = new DocumentWriter(filter.length + 256).startArray('$and').document('0', filter).startDocument('1')
  writer.startArray('$or').startDocument('0').startDocument('name').startArray('$in')
  names.forEach((name, i) => writer.string(String(i), name))
  writer.end().end().end()
  if (withNormal)
    writer
      .startDocument('1')
      .startDocument('name')
      .startDocument('$not')
      .string('$regex', '^system\\.')
      .end()
      .end()
      .end()
  return writer.end().end().end().finish()
}
