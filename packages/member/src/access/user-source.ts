import type { Privilege, RoleName, UserDocument, UserName } from '@shardlab/auth'
import type { RawValue } from '@shardlab/bson'

export interface FoundUser {
  readonly user: UserDocument
  /** With inherited ones. */
  readonly roles: readonly RoleName[]
  readonly privileges: readonly Privilege[]
  /** Of the roles: an array for each that has some. */
  readonly restrictions: readonly RawValue[]
}

export type UserCommand =
  | 'createUser'
  | 'updateUser'
  | 'dropUser'
  | 'dropAllUsersFromDatabase'
  | 'grantRolesToUser'
  | 'revokeRolesFromUser'
  | 'createRole'
  | 'updateRole'
  | 'dropRole'
  | 'dropAllRolesFromDatabase'
  | 'grantPrivilegesToRole'
  | 'revokePrivilegesFromRole'
  | 'grantRolesToRole'
  | 'revokeRolesFromRole'
  | '_mergeAuthzCollections'
  | 'usersInfo'
  | 'rolesInfo'

/** The users of a process: of a mongod its own, of a router those of the config server. */
export interface UserSource {
  /** Another one after users or roles may have changed. */
  readonly generation: number
  /** Null: the user is unknown. */
  find(name: UserName): FoundUser | null | Promise<FoundUser | null>
  /** False: there are no users and no roles, so the localhost exception applies. */
  hasAny(): boolean | Promise<boolean>
  /** Reads users and roles again when they are needed next. */
  invalidate(): void
}
