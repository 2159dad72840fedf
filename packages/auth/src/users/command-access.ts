/**
 * Which privileges commands on users and roles need. Server: `user_management_commands_common.cpp`.
 * Each check throws CommandError Unauthorized.
 */
import { CommandError } from '@shardlab/bson'
import { fullRoleName, fullUserName, userKey, type RoleName, type UserName } from '../names.js'
import type { Privilege } from '../privileges/privilege.js'
import type { Privileges } from '../privileges/recorded-privileges.js'
import { anyNormalResource, clusterResource } from '../privileges/resource.js'
import type { RoleArguments } from './role-commands.js'
import type { UserArguments } from './user-commands.js'

/** Of the client that sends the command. */
export interface CommandAccess {
  readonly privileges: Privileges
  readonly isUser: (name: UserName) => boolean
  /** Inherited roles included. */
  readonly hasRole: (role: RoleName) => boolean
}

/** Of a connection with these users: before 5.0 one per database, since then one. */
export function accessOf(
  privileges: Privileges,
  users: readonly UserName[],
  roles: readonly RoleName[],
): CommandAccess {
  const userKeys = new Set(users.map(userKey))
  const roleNames = new Set(roles.map(fullRoleName))
  return {
    privileges,
    isUser: (name) => userKeys.has(userKey(name)),
    hasRole: (role) => roleNames.has(fullRoleName(role)),
  }
}

function need(isAllowed: boolean, message: string): void {
  if (!isAllowed) throw new CommandError('Unauthorized', message)
}

export function checkCreateUserAccess({ privileges }: CommandAccess, args: UserArguments): void {
  const { db } = args.name
  need(privileges.allowsOnDatabase(db, 'createUser'), `Not authorized to create users on db: ${db}`)
  checkGrantRoles(privileges, args.roles ?? [])
  checkRestrictions(privileges, args, db)
}

export function checkUpdateUserAccess(access: CommandAccess, args: UserArguments): void {
  const { privileges } = access
  const { db } = args.name
  const mayChange = (own: string, any: string): boolean =>
    (access.isUser(args.name) && privileges.allowsOnDatabase(db, own)) || privileges.allowsOnDatabase(db, any)
  const user = fullUserName(args.name)
  if (args.password !== null)
    need(mayChange('changeOwnPassword', 'changePassword'), `Not authorized to change password of user: ${user}`)
  if (args.customData !== null)
    need(mayChange('changeOwnCustomData', 'changeCustomData'), `Not authorized to change customData of user: ${user}`)
  if (args.roles !== null) {
    need(
      privileges.allows(anyNormalResource, 'revokeRole'),
      'In order to use updateUser to set roles array, must be authorized to revoke any role in the system',
    )
    checkGrantRoles(privileges, args.roles)
  }
  checkRestrictions(privileges, args, db)
}

export function checkCreateRoleAccess({ privileges }: CommandAccess, args: RoleArguments): void {
  const { db } = args.name
  need(privileges.allowsOnDatabase(db, 'createRole'), `Not authorized to create roles on db: ${db}`)
  checkGrantRoles(privileges, args.roles ?? [])
  checkGrantPrivileges(privileges, args.privileges ?? [])
  checkRestrictions(privileges, args, db)
}

export function checkUpdateRoleAccess({ privileges }: CommandAccess, args: RoleArguments): void {
  need(
    privileges.allows(anyNormalResource, 'revokeRole'),
    'updateRole command required the ability to revoke any role in the system',
  )
  checkGrantRoles(privileges, args.roles ?? [])
  checkGrantPrivileges(privileges, args.privileges ?? [])
  checkRestrictions(privileges, args, args.name.db)
}

/** Of grantRolesToUser and grantRolesToRole. */
export function checkGrantRoles(privileges: Privileges, roles: readonly RoleName[]): void {
  for (const role of roles)
    need(privileges.allowsOnDatabase(role.db, 'grantRole'), `Not authorized to grant role: ${fullRoleName(role)}`)
}

/** Of revokeRolesFromUser and revokeRolesFromRole. */
export function checkRevokeRoles(privileges: Privileges, roles: readonly RoleName[]): void {
  for (const role of roles)
    need(privileges.allowsOnDatabase(role.db, 'revokeRole'), `Not authorized to revoke role: ${fullRoleName(role)}`)
}

/** Of grantPrivilegesToRole. */
export function checkGrantPrivileges(privileges: Privileges, granted: readonly Privilege[]): void {
  checkEachPrivilege(privileges, granted, 'grant')
}

/** Of revokePrivilegesFromRole. */
export function checkRevokePrivileges(privileges: Privileges, revoked: readonly Privilege[]): void {
  checkEachPrivilege(privileges, revoked, 'revoke')
}

/** The server's text lacks the space before `database`. */
function checkEachPrivilege(set: Privileges, privileges: readonly Privilege[], verb: 'grant' | 'revoke'): void {
  const action = `${verb}Role`
  for (const { resource } of privileges) {
    if (resource.kind === 'database' || resource.kind === 'exact')
      need(
        set.allowsOnDatabase(resource.db, action),
        `Not authorized to ${verb} privileges on the ${resource.db}database`,
      )
    else
      need(
        set.allowsOnDatabase('admin', action),
        `To ${verb} privileges affecting multiple databases or the cluster, must be authorized to ${verb} roles from the admin database`,
      )
  }
}

function checkRestrictions(
  privileges: Privileges,
  { authenticationRestrictions }: UserArguments | RoleArguments,
  db: string,
): void {
  if (authenticationRestrictions !== null)
    need(privileges.allowsOnDatabase(db, 'setAuthenticationRestriction'), 'Unauthorized')
}

/** Of dropUser and dropAllUsersFromDatabase. */
export function checkDropUsers(privileges: Privileges, db: string): void {
  need(privileges.allowsOnDatabase(db, 'dropUser'), `Not authorized to drop users from the ${db} database`)
}

/** Of dropRole and dropAllRolesFromDatabase. */
export function checkDropRoles(privileges: Privileges, db: string): void {
  need(privileges.allowsOnDatabase(db, 'dropRole'), `Not authorized to drop roles from the ${db} database`)
}

/** Names: those users; a database: all of it; null: all of all databases. */
export function checkUsersInfo(access: CommandAccess, wanted: readonly UserName[] | string | null, db: string): void {
  const { privileges } = access
  if (wanted === null)
    need(privileges.allows(clusterResource, 'viewUser'), 'Not authorized to view users from all databases')
  else if (typeof wanted === 'string')
    need(privileges.allowsOnDatabase(wanted, 'viewUser'), `Not authorized to view users from the ${wanted} database`)
  else
    for (const name of wanted)
      need(
        access.isUser(name) || privileges.allowsOnDatabase(name.db, 'viewUser'),
        `Not authorized to view users from the ${db} database`,
      )
}

/** Names: those roles; a database: all of it. */
export function checkRolesInfo(access: CommandAccess, wanted: readonly RoleName[] | string): void {
  const view = (db: string): void =>
    need(access.privileges.allowsOnDatabase(db, 'viewRole'), `Not authorized to view roles from the ${db} database`)
  if (typeof wanted === 'string') view(wanted)
  else for (const role of wanted) if (!access.hasRole(role)) view(role.db)
}

export function checkInvalidateUserCache(privileges: Privileges): void {
  need(privileges.allows(clusterResource, 'invalidateUserCache'), 'Not authorized to invalidate user cache')
}
