import { parseMergeArguments, readRole, readUser, roleKey, userKey } from '@shardlab/auth'
import { BsonType, CommandError, findField } from '@shardlab/bson'
import { accessRulesOf } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import type { StoredUsers } from './stored-users.js'
import type { UserWriter } from './write-users.js'

/**
 * Without `drop`, users and roles that exist stay as they are. Server: processUsers, processRoles.
 * @throws CommandError for a document that is no user or role; those before it are merged
 */
export function mergeUsers(host: NodeHost, store: StoredUsers, writer: UserWriter, body: Uint8Array): void {
  const { usersFrom, rolesFrom, db, drops } = parseMergeArguments(body)
  const rules = accessRulesOf(host.behaviours)
  const isWanted = (of: string): boolean => db === '' || of === db
  if (usersFrom !== '') {
    const existing = new Map([...store.all()].map((user) => [userKey(user.name), user]))
    for (const document of documentsOf(host, usersFrom, db)) {
      const user = readUser(document)
      const known = existing.get(userKey(user.name))
      if (known === undefined || drops) writer.storeUser(user)
      existing.delete(userKey(user.name))
    }
    if (drops) for (const user of existing.values()) if (isWanted(user.name.db)) writer.deleteUser(user)
  }
  if (rolesFrom === '') return
  const existing = new Map([...store.graph.roles].map((role) => [roleKey(role.name), role]))
  for (const document of documentsOf(host, rolesFrom, db)) {
    const role = readRole(document, rules)
    const known = existing.get(roleKey(role.name))
    if (known === undefined || drops) writer.storeRole(role)
    existing.delete(roleKey(role.name))
  }
  if (drops) for (const role of existing.values()) if (isWanted(role.name.db)) writer.deleteRole(role.name)
}

/** Copies: the collection is read while others are written. @throws CommandError */
function documentsOf(host: NodeHost, ns: string, db: string): Uint8Array[] {
  const documents = [...(host.collection(ns)?.scan() ?? [])].map(({ document }) => new Uint8Array(document))
  return documents.filter((document) => {
    const of = findField(document, 'db')
    if (of?.type === BsonType.string) return db === '' || of.asString() === db
    if (db !== '') return false
    throw new CommandError('NoSuchKey', 'Missing expected field "db"')
  })
}
