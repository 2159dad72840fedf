/**
 * Commands on roles as functions from the stored documents and the command to the new ones. Server:
 * `user_management_commands.cpp`.
 */
import { CommandError, type RawValue } from '@shardlab/bson'
import { distinctRoles, fullRoleName, roleKey, type RoleName } from '../names.js'
import { parsePrivileges } from '../privileges/parse-privileges.js'
import { mergePrivileges, subtractPrivileges, type Privilege } from '../privileges/privilege.js'
import { isBuiltInRole } from '../roles/built-in-roles.js'
import type { RoleDocument } from '../roles/role-document.js'
import type { RoleGraph } from '../roles/role-graph.js'
import type { AccessRules } from '../rules/access-rules.js'
import { checkAddressRestrictions, storedRestrictions } from './address-restrictions.js'
import { CommandFields } from './command-fields.js'
import { withoutRoles } from './user-commands.js'
import type { UserDocument } from './user-document.js'

/** Of createRole and updateRole. Null: the field is absent. */
export interface RoleArguments {
  readonly name: RoleName
  readonly privileges: readonly Privilege[] | null
  readonly roles: readonly RoleName[] | null
  readonly authenticationRestrictions: RawValue | null
}

export interface RolePrivilegeArguments {
  readonly name: RoleName
  readonly privileges: readonly Privilege[]
}

export interface RoleRoleArguments {
  readonly name: RoleName
  readonly roles: readonly RoleName[]
}

const badValue = (message: string): CommandError => new CommandError('BadValue', message)

/** @throws CommandError TypeMismatch, BadValue, FailedToParse and others of the server's parser */
export function parseRoleArguments(
  command: 'createRole' | 'updateRole',
  body: Uint8Array,
  db: string,
  rules: AccessRules,
): RoleArguments {
  const fields = new CommandFields(command, body, rules)
  const name = { role: fields.name(), db }
  const array = fields.array('privileges')
  const isNew = command === 'createRole'
  if (isNew) fields.required('privileges', array)
  if (name.role.includes('\0') && !rules.has('generatedParsers'))
    throw badValue('Role name cannot contain NULL characters')
  const privileges = array === null ? null : parsePrivileges(array, rules)
  const roles = fields.roles('roles', db)
  return {
    name,
    privileges,
    roles: isNew ? fields.required('roles', roles) : roles,
    authenticationRestrictions: rules.has('authenticationRestrictions')
      ? fields.array('authenticationRestrictions')
      : null,
  }
}

/** Of grantPrivilegesToRole and revokePrivilegesFromRole. */
export function parseRolePrivilegeArguments(
  command: 'grantPrivilegesToRole' | 'revokePrivilegesFromRole',
  body: Uint8Array,
  db: string,
  rules: AccessRules,
): RolePrivilegeArguments {
  const fields = new CommandFields(command, body, rules)
  const name = { role: fields.name(), db }
  const privileges = parsePrivileges(fields.required('privileges', fields.array('privileges')), rules)
  if (privileges.length === 0) throw badValue(`${command} command requires a non-empty "privileges" array`)
  return { name, privileges }
}

/** Of grantRolesToRole and revokeRolesFromRole. */
export function parseRoleRoleArguments(
  command: 'grantRolesToRole' | 'revokeRolesFromRole',
  body: Uint8Array,
  db: string,
  rules: AccessRules,
): RoleRoleArguments {
  const fields = new CommandFields(command, body, rules)
  const name = { role: fields.name(), db }
  const roles = fields.required('roles', fields.roles('roles', db))
  if (roles.length === 0) throw badValue(`${command} command requires a non-empty "roles" array`)
  return { name, roles }
}

/** @throws CommandError BadValue, InvalidRoleModification, RoleNotFound, 51002 */
export function createRole(args: RoleArguments, graph: RoleGraph): RoleDocument {
  const { name, authenticationRestrictions } = args
  if (name.role === '') throw badValue('Role name must be non-empty')
  if (name.db === 'local') throw badValue('Cannot create roles in the local database')
  if (name.db === '$external') throw badValue('Cannot create roles in the $external database')
  if (isBuiltInRole(name, graph.rules)) throw badValue('Cannot create roles with the same name as a built-in role')
  if (authenticationRestrictions !== null) checkAddressRestrictions(authenticationRestrictions)
  graph.checkGrant(name, args.roles!)
  checkPrivilegesOf(name, args.privileges!)
  if (graph.find(name) !== undefined)
    throw new CommandError(
      graph.rules.has('duplicatesHaveOwnCodes') ? 51002 : 'DuplicateKey',
      `Role "${fullRoleName(name)}" already exists`,
    )
  return {
    name,
    privileges: args.privileges!,
    roles: args.roles!,
    authenticationRestrictions: storedRestrictions(authenticationRestrictions),
  }
}

/** @throws CommandError BadValue, InvalidRoleModification, RoleNotFound */
export function updateRole(args: RoleArguments, graph: RoleGraph): RoleDocument {
  const { name, privileges, roles, authenticationRestrictions } = args
  if (privileges === null && roles === null && authenticationRestrictions === null)
    throw badValue('Must specify at least one field to update in updateRole')
  if (authenticationRestrictions !== null) checkAddressRestrictions(authenticationRestrictions)
  graph.requireAll([name])
  if (roles !== null) graph.checkGrant(name, roles)
  if (privileges !== null) checkPrivilegesOf(name, privileges)
  const role = found(name, graph)
  return {
    name,
    privileges: privileges ?? role.privileges,
    roles: roles ?? role.roles,
    authenticationRestrictions:
      authenticationRestrictions === null
        ? role.authenticationRestrictions
        : storedRestrictions(authenticationRestrictions),
  }
}

/** @throws CommandError BadValue, InvalidRoleModification, RoleNotFound */
export function grantPrivilegesToRole({ name, privileges }: RolePrivilegeArguments, graph: RoleGraph): RoleDocument {
  refuseBuiltIn(name, graph)
  checkPrivilegesOf(name, privileges)
  const role = found(name, graph)
  return { ...role, privileges: mergePrivileges([...role.privileges, ...privileges]) }
}

/**
 * Privileges that the role does not have do not matter.
 * @throws CommandError BadValue, RoleNotFound
 */
export function revokePrivilegesFromRole({ name, privileges }: RolePrivilegeArguments, graph: RoleGraph): RoleDocument {
  refuseBuiltIn(name, graph)
  const role = found(name, graph)
  return { ...role, privileges: subtractPrivileges(role.privileges, privileges, graph.rules) }
}

/** @throws CommandError BadValue, InvalidRoleModification, RoleNotFound */
export function grantRolesToRole({ name, roles }: RoleRoleArguments, graph: RoleGraph): RoleDocument {
  refuseBuiltIn(name, graph)
  graph.checkGrant(name, roles)
  const role = found(name, graph)
  return { ...role, roles: distinctRoles([...role.roles, ...roles]) }
}

/** Roles that the role does not have do not matter. @throws CommandError BadValue, RoleNotFound */
export function revokeRolesFromRole({ name, roles }: RoleRoleArguments, graph: RoleGraph): RoleDocument {
  refuseBuiltIn(name, graph)
  const role = found(name, graph)
  return { ...role, roles: withoutRoles(role.roles, roles) }
}

/** What one transaction writes when roles are dropped. */
export interface RoleRemoval {
  readonly removed: readonly RoleName[]
  /** Without the roles. Only those that had one. */
  readonly users: readonly UserDocument[]
  readonly roles: readonly RoleDocument[]
}

/** @throws CommandError BadValue for a built-in role, RoleNotFound */
export function dropRole(name: RoleName, users: Iterable<UserDocument>, graph: RoleGraph): RoleRemoval {
  refuseBuiltIn(name, graph)
  graph.requireAll([name])
  return removal([name], (role) => roleKey(role) === roleKey(name), users, graph)
}

/** Takes built-in roles of the database away too. The reply counts `removed`. */
export function dropAllRolesFromDatabase(db: string, users: Iterable<UserDocument>, graph: RoleGraph): RoleRemoval {
  const removed = [...graph.roles].map(({ name }) => name).filter((name) => name.db === db)
  return removal(removed, (role) => role.db === db, users, graph)
}

function removal(
  removed: readonly RoleName[],
  isTaken: (role: RoleName) => boolean,
  users: Iterable<UserDocument>,
  graph: RoleGraph,
): RoleRemoval {
  const isRemoved = new Set(removed.map(roleKey))
  const keep = (roles: readonly RoleName[]): RoleName[] => roles.filter((role) => !isTaken(role))
  return {
    removed,
    users: [...users].filter(({ roles }) => roles.some(isTaken)).map((user) => ({ ...user, roles: keep(user.roles) })),
    roles: [...graph.roles]
      .filter(({ name, roles }) => !isRemoved.has(roleKey(name)) && roles.some(isTaken))
      .map((role) => ({ ...role, roles: keep(role.roles) })),
  }
}

function found(name: RoleName, graph: RoleGraph): RoleDocument {
  const role = graph.find(name)
  if (role !== undefined) return role
  throw new CommandError(
    'RoleNotFound',
    graph.rules.has('generatedParsers') || graph.has(name)
      ? `Role ${fullRoleName(name)} not found`
      : `No role named ${fullRoleName(name)}`,
  )
}

function refuseBuiltIn(name: RoleName, { rules }: RoleGraph): void {
  if (!isBuiltInRole(name, rules)) return
  const message = `${fullRoleName(name)} is a built-in role and cannot be modified`
  if (rules.has('generatedParsers')) throw badValue(message)
  throw new CommandError('InvalidRoleModification', `${message}.`)
}

/** Server: checkOkayToGrantPrivilegesToRole. */
function checkPrivilegesOf({ db }: RoleName, privileges: readonly Privilege[]): void {
  if (db === 'admin') return
  const isOwn = ({ resource }: Privilege): boolean =>
    (resource.kind === 'database' || resource.kind === 'exact') && resource.db === db
  if (privileges.every(isOwn)) return
  throw new CommandError(
    'InvalidRoleModification',
    `Roles on the '${db}' database cannot be granted privileges that target other databases or the cluster`,
  )
}
