/**
 * Commands on users as functions from the stored document and the command to the new document.
 * Server: `user_management_commands.cpp`, `user_management_commands_parser.cpp`.
 */
import { CommandError, DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import { distinctRoles, fullUserName, roleKey, type RoleName, type UserName } from '../names.js'
import type { RoleGraph } from '../roles/role-graph.js'
import type { AccessRules } from '../rules/access-rules.js'
import { writeCredentials, type ScramCredentials } from '../scram/credentials.js'
import { scramMechanisms, type ScramMechanism } from '../scram/mechanism.js'
import { passwordOf } from '../scram/password.js'
import { checkAddressRestrictions, storedRestrictions } from './address-restrictions.js'
import { CommandFields } from './command-fields.js'
import { mechanismsOf, type UserDocument } from './user-document.js'

/** Of createUser and updateUser. Null: the field is absent. */
export interface UserArguments {
  readonly name: UserName
  readonly password: string | null
  /** False: the client has sent the digest of SCRAM-SHA-1. */
  readonly digestPassword: boolean
  readonly mechanisms: readonly string[] | null
  readonly roles: readonly RoleName[] | null
  readonly customData: Uint8Array | null
  readonly authenticationRestrictions: RawValue | null
}

export interface UserRoleArguments {
  readonly name: UserName
  readonly roles: readonly RoleName[]
}

/** Users of this database have no credentials here: another system has authenticated them. */
const externalDb = '$external'

const badValue = (message: string): CommandError => new CommandError('BadValue', message)

/** @throws CommandError TypeMismatch, BadValue and others of the server's parser */
export function parseUserArguments(
  command: 'createUser' | 'updateUser',
  body: Uint8Array,
  db: string,
  rules: AccessRules,
): UserArguments {
  const fields = new CommandFields(command, body, rules)
  const user = fields.name()
  const roles = fields.roles('roles', db)
  const args = {
    name: { user, db },
    password: fields.text('pwd'),
    digestPassword: fields.flag('digestPassword', true),
    mechanisms: rules.has('mechanisms') ? fields.strings('mechanisms') : null,
    roles: command === 'createUser' ? fields.required('roles', roles) : roles,
    customData: fields.document('customData'),
    authenticationRestrictions: rules.has('authenticationRestrictions')
      ? fields.array('authenticationRestrictions')
      : null,
  }
  if (user.includes('\0')) throw badValue('Username cannot contain NULL characters')
  if (args.password === '' && !rules.has('generatedParsers')) throw badValue('User passwords must not be empty')
  if (args.mechanisms?.length === 0) throw badValue('mechanisms field must not be empty')
  return args
}

/** Of grantRolesToUser and revokeRolesFromUser. */
export function parseUserRoleArguments(
  command: 'grantRolesToUser' | 'revokeRolesFromUser',
  body: Uint8Array,
  db: string,
  rules: AccessRules,
): UserRoleArguments {
  const fields = new CommandFields(command, body, rules)
  const name = { user: fields.name(), db }
  const roles = fields.required('roles', fields.roles('roles', db))
  if (roles.length === 0) throw badValue(`${command} command requires a non-empty "roles" array`)
  return { name, roles }
}

/** What {@link makeCredentials} needs for one mechanism. */
export interface CredentialsWanted {
  readonly mechanism: ScramMechanism
  /** As `passwordOf` returns it. */
  readonly password: string
}

/**
 * The mechanisms for which a password is to be hashed: a member does it in steps. Empty: the
 * command has no password.
 * @param offered names of the parameter authenticationMechanisms
 * @throws CommandError BadValue
 */
export function credentialsWanted(args: UserArguments, offered: readonly string[]): CredentialsWanted[] {
  const { name, password, digestPassword } = args
  if (password === null) return []
  for (const mechanism of args.mechanisms ?? []) {
    if (!scramMechanisms.has(mechanism)) throw badValue(`Unknown auth mechanism '${mechanism}'`)
    if (!offered.includes(mechanism)) throw badValue(`${mechanism} not supported in authMechanisms`)
  }
  const names = args.mechanisms ?? offered
  return ['SCRAM-SHA-1', 'SCRAM-SHA-256']
    .filter((each) => names.includes(each))
    .map((each) => {
      const mechanism = scramMechanisms.get(each)!
      if (!mechanism.isDigested && !digestPassword) throw badValue('Use of SCRAM-SHA-256 requires undigested passwords')
      return { mechanism, password: passwordOf(mechanism, name.user, password, !digestPassword) }
    })
}

/** The field `credentials` of a user's document. */
export function credentialsDocument(
  credentials: readonly (readonly [wanted: CredentialsWanted, made: ScramCredentials])[],
): Uint8Array {
  const writer = new DocumentWriter()
  if (credentials.length === 0) return writer.bool('external', true).finish()
  for (const [{ mechanism }, made] of credentials) writer.document(mechanism.name, writeCredentials(made))
  return writer.finish()
}

/**
 * The checks before a password is hashed.
 * @throws CommandError BadValue
 */
export function checkCreateUser({ name, password }: UserArguments): void {
  if (name.db === 'local') throw badValue('Cannot create users in the local database')
  if (password === null && name.db !== externalDb)
    throw badValue(
      "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db",
    )
  if (password !== null && name.db === externalDb) throw externalPassword()
}

/**
 * @param credentials of {@link credentialsDocument}
 * @param userId sixteen random bytes of a UUID, version 4
 * @param present the user with this name, if there is one
 * @throws CommandError BadValue, RoleNotFound, 51003
 */
export function createUser(
  args: UserArguments,
  credentials: Uint8Array,
  userId: Uint8Array,
  present: UserDocument | null,
  graph: RoleGraph,
): UserDocument {
  checkCreateUser(args)
  const { name, authenticationRestrictions } = args
  if (name.user === '') throw badValue("User document needs 'user' field to be non-empty")
  if (authenticationRestrictions !== null) checkAddressRestrictions(authenticationRestrictions)
  graph.requireAll(args.roles!)
  if (present !== null)
    throw new CommandError(
      graph.rules.has('duplicatesHaveOwnCodes') ? 51003 : 'DuplicateKey',
      `User "${fullUserName(name)}" already exists`,
    )
  return {
    name,
    userId: graph.rules.has('userIds') ? userId : null,
    credentials,
    roles: args.roles!,
    customData: args.customData,
    authenticationRestrictions: storedRestrictions(authenticationRestrictions),
  }
}

/**
 * The checks before a password is hashed.
 * @throws CommandError BadValue
 */
export function checkUpdateUser({ name, password }: UserArguments): void {
  if (password !== null && name.db === externalDb) throw externalPassword()
}

/**
 * @param credentials of {@link credentialsDocument}; null: the command has no password
 * @throws CommandError BadValue, UserNotFound, RoleNotFound
 */
export function updateUser(
  args: UserArguments,
  credentials: Uint8Array | null,
  present: UserDocument | null,
  graph: RoleGraph,
): UserDocument {
  checkUpdateUser(args)
  const { name, mechanisms, customData, authenticationRestrictions, roles } = args
  let changed = credentials
  if (changed === null && mechanisms !== null) changed = trimmed(found(present, name, graph.rules), mechanisms)
  const isEmpty = [changed, mechanisms, customData, authenticationRestrictions, roles].every((each) => each === null)
  if (isEmpty) throw badValue('Must specify at least one field to update in updateUser')
  if (authenticationRestrictions !== null) checkAddressRestrictions(authenticationRestrictions)
  if (roles !== null) graph.requireAll(roles)
  if (present === null) throw new CommandError('UserNotFound', `User ${fullUserName(name)} not found`)
  return {
    ...present,
    credentials: changed ?? present.credentials,
    roles: roles ?? present.roles,
    customData: customData ?? present.customData,
    authenticationRestrictions:
      authenticationRestrictions === null
        ? present.authenticationRestrictions
        : storedRestrictions(authenticationRestrictions),
  }
}

/** @throws CommandError UserNotFound, RoleNotFound */
export function grantRolesToUser(
  { name, roles }: UserRoleArguments,
  present: UserDocument | null,
  graph: RoleGraph,
): UserDocument {
  const user = found(present, name, graph.rules)
  graph.requireAll(roles)
  return { ...user, roles: distinctRoles([...user.roles, ...roles]) }
}

/**
 * Roles that the user does not have do not matter.
 * @throws CommandError UserNotFound, RoleNotFound
 */
export function revokeRolesFromUser(
  { name, roles }: UserRoleArguments,
  present: UserDocument | null,
  graph: RoleGraph,
): UserDocument {
  const user = found(present, name, graph.rules)
  graph.requireAll(roles)
  return { ...user, roles: withoutRoles(user.roles, roles) }
}

/** @throws CommandError UserNotFound */
export function checkDropUser(name: UserName, present: UserDocument | null): void {
  if (present === null) throw new CommandError('UserNotFound', `User '${fullUserName(name)}' not found`)
}

export function withoutRoles(roles: readonly RoleName[], removed: readonly RoleName[]): RoleName[] {
  const keys = new Set(removed.map(roleKey))
  return roles.filter((role) => !keys.has(roleKey(role)))
}

function found(user: UserDocument | null, name: UserName, rules: AccessRules): UserDocument {
  if (user !== null) return user
  throw userNotFound(name, rules)
}

export function userNotFound(name: UserName, rules: AccessRules): CommandError {
  return new CommandError(
    'UserNotFound',
    rules.has('generatedParsers')
      ? `Could not find user "${name.user}" for db "${name.db}"`
      : `Could not find user ${fullUserName(name)}`,
  )
}

/** updateUser with mechanisms and without a password keeps these, and forgets the others. */
function trimmed(user: UserDocument, kept: readonly string[]): Uint8Array {
  const present = mechanismsOf(user)
  if (!kept.every((mechanism) => present.includes(mechanism)))
    throw badValue('mechanisms field must be a subset of previously set mechanisms')
  if (!kept.some((mechanism) => scramMechanisms.has(mechanism)))
    throw badValue('mechanisms field must contain at least one previously set known mechanism')
  const writer = new DocumentWriter()
  for (const it = new FieldIterator(user.credentials); it.next();)
    if (kept.includes(it.name())) writer.value(it.name(), it.value())
  return writer.finish()
}

function externalPassword(): CommandError {
  return badValue("Cannot set the password for users defined on the '$external' database")
}
