/**
 * The users and roles of a mongod are documents of two ordinary collections, so that replication,
 * recovery and snapshots need no code for them. Server: authorization_backend_local.cpp.
 */
import { readRole, readUser, RoleGraph, userKey, type UserDocument, type UserName } from '@shardlab/auth'
import { CommandError, stringValue } from '@shardlab/bson'
import { accessRulesOf, type FoundUser, type UserSource } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import { rolesNamespace, usersNamespace, type StoredUsers } from './stored-users.js'

export class UserStore implements UserSource, StoredUsers {
  readonly #node: NodeHost
  #generation: number
  /** Null: not read since the last change. */
  #graph: RoleGraph | null = null
  /** Once true it stays true until the process restarts, as on the server. */
  #hadAny: boolean
  /** Ends with the last password that is being hashed. */
  #hashing: Promise<unknown> = Promise.resolve()

  /** @param previous of the node that served before; its data may have been rolled back */
  constructor(node: NodeHost, previous: UserStore | null) {
    this.#node = node
    this.#generation = previous === null ? 0 : previous.generation + 1
    this.#hadAny = previous !== null && previous.#hadAny
  }

  get generation(): number {
    return this.#generation
  }

  get graph(): RoleGraph {
    const rules = accessRulesOf(this.#node.behaviours)
    return (this.#graph ??= new RoleGraph(
      [...this.#documents(rolesNamespace)].flatMap((document) => {
        const role = valid(() => readRole(document, rules))
        return role === null ? [] : [role]
      }),
      rules,
    ))
  }

  find(name: UserName): FoundUser | null {
    const user = this.user(name)
    if (user === null) return null
    this.#hadAny = true
    const { privileges, restrictions } = this.graph.resolve(user.roles)
    return { user, roles: this.graph.allRoles(user.roles), privileges, restrictions }
  }

  user(name: UserName): UserDocument | null {
    const document = this.#node.collection(usersNamespace)?.findById(stringValue(userKey(name)))?.document
    return document === undefined ? null : valid(() => readUser(document))
  }

  /** In the order in which they were created. */
  *all(): IterableIterator<UserDocument> {
    for (const document of this.#documents(usersNamespace)) {
      const user = valid(() => readUser(document))
      if (user !== null) yield user
    }
  }

  *#documents(ns: string): IterableIterator<Uint8Array> {
    const collection = this.#node.collection(ns)
    if (collection === undefined) return
    // A copy: the commands write while they read.
    for (const { document } of collection.scan()) yield new Uint8Array(document)
  }

  hasAny(): boolean {
    return (this.#hadAny ||= [usersNamespace, rolesNamespace].some((ns) => (this.#node.collection(ns)?.count ?? 0) > 0))
  }

  invalidate(): void {
    this.hasAny()
    this.#generation++
    this.#graph = null
  }

  inTurn<T>(hash: () => Promise<T>): Promise<T> {
    const hashed = this.#hashing.then(hash)
    this.#hashing = hashed.then(
      () => {},
      () => {},
    )
    return hashed
  }
}

/** Null: a client with the privileges has written a malformed document, which counts as absent. */
function valid<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof CommandError) return null
    throw error
  }
}
