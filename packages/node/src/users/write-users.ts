import { roleKey, userKey, writeRole, writeUser, type RoleDocument, type UserDocument } from '@shardlab/auth'
import { DocumentWriter, emptyDocument, findField, stringValue } from '@shardlab/bson'
import { accessRulesOf } from '@shardlab/member'
import type { Collection } from '@shardlab/storage'
import { buildIndex } from '../ddl/index-specs.js'
import { createCollection } from '../ddl/namespace.js'
import type { NodeHost } from '../host/node-host.js'
import { rolesNamespace, usersNamespace } from './stored-users.js'

const versionNamespace = 'admin.system.version'

/** Call {@link NodeHost.flush} after all changes of a command. */
export class UserWriter {
  readonly #host: NodeHost

  constructor(host: NodeHost) {
    this.#host = host
  }

  storeUser(user: UserDocument): void {
    this.#storeSchema()
    this.#store(this.#collection(usersNamespace, 'user'), writeUser(user))
  }

  storeRole(role: RoleDocument): void {
    this.#storeSchema()
    this.#store(this.#collection(rolesNamespace, 'role'), writeRole(role, accessRulesOf(this.#host.behaviours)))
  }

  deleteUser({ name }: UserDocument): void {
    this.#delete(usersNamespace, userKey(name))
  }

  deleteRole(name: RoleDocument['name']): void {
    this.#delete(rolesNamespace, roleKey(name))
  }

  /** With an index on names, as on the server. */
  #collection(ns: string, field: 'user' | 'role'): Collection {
    const known = this.#host.collection(ns)
    if (known !== undefined) return known
    const created = createCollection(this.#host, ns, emptyDocument)
    const spec = new DocumentWriter(128)
      .int32('v', this.#host.behaviours.defaultIndexVersion)
      .startDocument('key')
      .int32(field, 1)
      .int32('db', 1)
      .end()
      .string('name', `${field}_1_db_1`)
      .bool('unique', true)
    buildIndex(this.#host, created, spec.finish())
    return this.#host.collection(ns)!
  }

  /** Server: writeAuthSchemaVersionIfNeeded. */
  #storeSchema(): void {
    const host = this.#host
    const id = stringValue('authSchema')
    if (host.collection(versionNamespace)?.findById(id) !== undefined) return
    const collection = host.collection(versionNamespace) ?? createCollection(host, versionNamespace, emptyDocument)
    const document = new DocumentWriter(64).string('_id', 'authSchema')
    this.#store(collection, document.int32('currentVersion', host.behaviours.authSchemaVersion).finish())
  }

  #store({ ns, uuid }: Collection, object: Uint8Array): void {
    const id = findField(object, '_id')!
    const op = this.#host.collection(ns)!.findById(id) === undefined ? 'i' : 'u'
    this.#host.apply({ op, ns, uuid, object, id, session: null })
  }

  #delete(ns: string, key: string): void {
    const { uuid } = this.#host.collection(ns)!
    const object = new DocumentWriter(64).string('_id', key).finish()
    this.#host.apply({ op: 'd', ns, uuid, object, id: findField(object, '_id')!, session: null })
  }
}
