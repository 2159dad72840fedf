import type { RoleGraph, UserDocument, UserName } from '@shardlab/auth'

export const usersNamespace = 'admin.system.users'
export const rolesNamespace = 'admin.system.roles'

/** Whether a change of this namespace may change users and roles. */
export function isNamespaceOfUsers(ns: string): boolean {
  return ns.startsWith('admin.') && (ns === usersNamespace || ns === rolesNamespace || ns === 'admin.$cmd')
}

export interface StoredUsers {
  readonly graph: RoleGraph
  user(name: UserName): UserDocument | null
  /** In the order in which they were created. */
  all(): Iterable<UserDocument>
  /** Hashes one password at a time: each takes up to 50 ms of the processor. */
  inTurn<T>(hash: () => Promise<T>): Promise<T>
}
