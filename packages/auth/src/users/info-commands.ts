/** Arguments of usersInfo and rolesInfo, and connectionStatus. */
import { BsonType, CommandError, DocumentWriter, elementsOf, findField, type RawValue } from '@shardlab/bson'
import { formatField } from '@shardlab/query'
import { readRoleName, readUserName, writeRoles, type RoleName, type UserName } from '../names.js'
import { writePrivileges } from '../privileges/privilege.js'
import type { PrivilegeSet } from '../privileges/privilege-set.js'
import type { RoleDetails } from '../roles/describe-roles.js'
import type { AccessRules } from '../rules/access-rules.js'
import { CommandFields } from './command-fields.js'
import type { UserDetails } from './describe-users.js'

export interface UsersInfoArguments extends UserDetails {
  /** Names; a database: all of its users; null: all users. */
  readonly users: readonly UserName[] | string | null
  /** A filter that the member applies to the documents. Null: none. */
  readonly filter: Uint8Array | null
}

export interface RolesInfoArguments extends RoleDetails {
  /** Names; a database: all of its roles. */
  readonly roles: readonly RoleName[] | string
  readonly showBuiltInRoles: boolean
  /** The reply has one document, as of a user with these roles. */
  readonly asUserFragment: boolean
}

/** @throws CommandError BadValue, NoSuchKey, TypeMismatch, IllegalOperation */
export function parseUsersInfo(body: Uint8Array, db: string, rules: AccessRules): UsersInfoArguments {
  const fields = new CommandFields('usersInfo', body, rules)
  const users = namesOf(findField(body, 'usersInfo'), db, readUserName, rules)
  const args = {
    users,
    filter: fields.document('filter'),
    showCredentials: fields.flag('showCredentials', false),
    showCustomData: fields.flag('showCustomData', true),
    showPrivileges: fields.flag('showPrivileges', false),
    showAuthenticationRestrictions: fields.flag('showAuthenticationRestrictions', false),
  }
  const isExact = users !== null && typeof users !== 'string' && args.filter === null
  if ((args.showPrivileges || args.showAuthenticationRestrictions) && !isExact)
    throw new CommandError(
      'IllegalOperation',
      rules.has('authenticationRestrictions')
        ? 'Privilege or restriction details require exact-match usersInfo queries'
        : 'Can only get privilege details on exact-match usersInfo queries.',
    )
  return args
}

/** @throws CommandError BadValue, NoSuchKey, TypeMismatch, FailedToParse, IllegalOperation */
export function parseRolesInfo(body: Uint8Array, db: string, rules: AccessRules): RolesInfoArguments {
  const fields = new CommandFields('rolesInfo', body, rules)
  const roles = namesOf(findField(body, 'rolesInfo'), db, readRoleName, rules)
  if (roles === null) throw notAName()
  const privileges = findField(body, 'showPrivileges')
  const asUserFragment = privileges?.type === BsonType.string && privileges.asString() === 'asUserFragment'
  if (privileges !== undefined && !asUserFragment && privileges.type !== BsonType.bool && !privileges.isNumber())
    throw new CommandError(
      'FailedToParse',
      "Failed to parse 'showPrivileges'. 'showPrivileges' should either be a boolean or the string " +
        `'asUserFragment', given: ${formatField('showPrivileges', privileges)}`,
    )
  if (asUserFragment && typeof roles === 'string')
    throw new CommandError('IllegalOperation', 'Cannot get user fragment for all roles in a database')
  return {
    roles,
    asUserFragment,
    showPrivileges: asUserFragment || (privileges?.isTruthy() ?? false),
    showBuiltInRoles: fields.flag('showBuiltinRoles', false),
    showAuthenticationRestrictions: fields.flag('showAuthenticationRestrictions', false),
  }
}

function namesOf<Name>(
  value: RawValue | undefined,
  db: string,
  read: (value: RawValue, db: string) => Name,
  rules: AccessRules,
): Name[] | string | null {
  if (value === undefined) throw notAName()
  if (value.isNumber() && Math.trunc(value.asNumber()) === 1) return db
  if (value.type === BsonType.array) return elementsOf(value).map((each) => read(each, db))
  if (value.type === BsonType.object && rules.has('mechanisms')) {
    const all = findField(value.slice(), 'forAllDBs')
    if (all !== undefined && all.isTruthy()) return null
  }
  return [read(value, db)]
}

function notAName(): CommandError {
  return new CommandError('BadValue', 'User and role names must be either strings or objects')
}

/**
 * The field `authInfo` of connectionStatus.
 * @param roles inherited ones included
 * @param privileges null: not asked for
 */
export function writeAuthInfo(
  writer: DocumentWriter,
  users: readonly UserName[],
  roles: readonly RoleName[],
  privileges: PrivilegeSet | null,
  rules: AccessRules,
): DocumentWriter {
  writer.startDocument('authInfo').startArray('authenticatedUsers')
  users.forEach(({ user, db }, i) => writer.startDocument(String(i)).string('user', user).string('db', db).end())
  writeRoles(writer.end(), 'authenticatedUserRoles', roles)
  if (privileges !== null) writePrivileges(writer, 'authenticatedUserPrivileges', privileges.privileges, rules)
  return writer.end()
}
