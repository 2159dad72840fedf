/**
 * Commands on users and roles. A command reads and writes in one turn, so that no other command
 * comes between; only passwords are hashed before. Server: user_management_commands.cpp.
 */
import {
  checkCreateUser,
  checkDropUser,
  checkUpdateUser,
  createRole,
  createUser,
  describeAsUser,
  describeRoles,
  describeRolesOf,
  describeUsers,
  dropAllRolesFromDatabase,
  dropRole,
  grantPrivilegesToRole,
  grantRolesToRole,
  grantRolesToUser,
  parseRoleArguments,
  parseRolePrivilegeArguments,
  parseRoleRoleArguments,
  parseRolesInfo,
  parseUserArguments,
  parseUserRoleArguments,
  parseUsersInfo,
  revokePrivilegesFromRole,
  revokeRolesFromRole,
  revokeRolesFromUser,
  updateRole,
  updateUser,
  type AccessRules,
  type RoleDocument,
  type RoleGraph,
  type RoleRemoval,
  type UserDocument,
  type UserRoleArguments,
} from '@shardlab/auth'
import { BsonType, CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { accessRulesOf, type UserCommand } from '@shardlab/member'
import { compileFilter } from '@shardlab/query'
import type { NodeHost } from '../host/node-host.js'
import { mergeUsers } from './merge-users.js'
import { hashPassword } from './hash-password.js'
import type { StoredUsers } from './stored-users.js'
import { UserWriter } from './write-users.js'

interface CommandOnUsers {
  readonly host: NodeHost
  readonly store: StoredUsers
  readonly db: string
  readonly body: Uint8Array
  readonly writer: UserWriter
}

type Run = (command: CommandOnUsers) => Promise<DocumentWriter> | DocumentWriter

/** @throws CommandError of the command */
export async function runUserCommand(
  host: NodeHost,
  store: StoredUsers,
  command: UserCommand,
  db: string,
  body: Uint8Array,
): Promise<DocumentWriter> {
  return runs[command]({ host, store, db, body, writer: new UserWriter(host) })
}

const reply = (): DocumentWriter => new DocumentWriter(128)

type Parse<Name, Arguments> = (name: Name, body: Uint8Array, db: string, rules: AccessRules) => Arguments

/** Writes the user that `change` computes from the stored one. */
const changingUser =
  <Name>(
    name: Name,
    parse: Parse<Name, UserRoleArguments>,
    change: (args: UserRoleArguments, present: UserDocument | null, graph: RoleGraph) => UserDocument,
  ): Run =>
  async (command) => {
    const { host, store, body, db, writer } = command
    const args = parse(name, body, db, rulesOf(command))
    writer.storeUser(change(args, store.user(args.name), store.graph))
    await host.flush()
    return reply()
  }

/** Writes the role that `change` computes from the stored roles. */
const changingRole =
  <Name, Arguments>(
    name: Name,
    parse: Parse<Name, Arguments>,
    change: (args: Arguments, graph: RoleGraph) => RoleDocument,
  ): Run =>
  async (command) => {
    const { host, store, body, db, writer } = command
    writer.storeRole(change(parse(name, body, db, rulesOf(command)), store.graph))
    await host.flush()
    return reply()
  }

const rulesOf = ({ host }: CommandOnUsers) => accessRulesOf(host.behaviours)

async function runCreateUser(command: CommandOnUsers): Promise<DocumentWriter> {
  const { host, store, body, db, writer } = command
  const args = parseUserArguments('createUser', body, db, rulesOf(command))
  checkCreateUser(args)
  const credentials = await hashPassword(host, store, args)
  writer.storeUser(createUser(args, credentials, newUserId(host), store.user(args.name), store.graph))
  await host.flush()
  return reply()
}

async function runUpdateUser(command: CommandOnUsers): Promise<DocumentWriter> {
  const { host, store, body, db, writer } = command
  const args = parseUserArguments('updateUser', body, db, rulesOf(command))
  checkUpdateUser(args)
  const credentials = args.password === null ? null : await hashPassword(host, store, args)
  writer.storeUser(updateUser(args, credentials, store.user(args.name), store.graph))
  await host.flush()
  return reply()
}

/** A UUID, version 4. */
function newUserId({ context }: NodeHost): Uint8Array {
  const uuid = context.secretBytes(16)
  uuid[6] = (uuid[6]! & 0x0f) | 0x40
  uuid[8] = (uuid[8]! & 0x3f) | 0x80
  return uuid
}

async function runDropUser({ host, store, body, db, writer }: CommandOnUsers): Promise<DocumentWriter> {
  const name = { user: targetName(body, 'dropUser'), db }
  const present = store.user(name)
  checkDropUser(name, present)
  writer.deleteUser(present!)
  await host.flush()
  return reply()
}

async function runDropAllUsers({ host, store, db, writer }: CommandOnUsers): Promise<DocumentWriter> {
  const dropped = [...store.all()].filter(({ name }) => name.db === db)
  for (const user of dropped) writer.deleteUser(user)
  await host.flush()
  return reply().int32('n', dropped.length)
}

/**
 * The role goes last: if the process ends in between, it is still there, and can be dropped again.
 */
async function writeRemoval({ host, writer }: CommandOnUsers, { users, roles, removed }: RoleRemoval): Promise<void> {
  for (const user of users) writer.storeUser(user)
  for (const role of roles) writer.storeRole(role)
  for (const name of removed) writer.deleteRole(name)
  await host.flush()
}

async function runDropRole(command: CommandOnUsers): Promise<DocumentWriter> {
  const { store, body, db } = command
  await writeRemoval(command, dropRole({ role: targetName(body, 'dropRole'), db }, store.all(), store.graph))
  return reply()
}

async function runDropAllRoles(command: CommandOnUsers): Promise<DocumentWriter> {
  const { store, db } = command
  const removal = dropAllRolesFromDatabase(db, store.all(), store.graph)
  await writeRemoval(command, removal)
  return reply().int32('n', removal.removed.length)
}

/** @throws CommandError TypeMismatch */
function targetName(body: Uint8Array, command: UserCommand): string {
  const value = findField(body, command)
  if (value?.type === BsonType.string) return value.asString()
  throw new CommandError('TypeMismatch', `BSON field '${command}' is the wrong type, expected type 'string'`)
}

async function runMerge({ host, store, body, writer }: CommandOnUsers): Promise<DocumentWriter> {
  try {
    mergeUsers(host, store, writer, body)
  } finally {
    // Also what came before a wrong document.
    await host.flush()
  }
  return reply()
}

function runUsersInfo(command: CommandOnUsers): DocumentWriter {
  const { host, store, body, db } = command
  const args = parseUsersInfo(body, db, rulesOf(command))
  const { users: wanted } = args
  const users =
    wanted === null || typeof wanted === 'string'
      ? [...store.all()].filter(({ name }) => wanted === null || name.db === wanted)
      : wanted.flatMap((name) => store.user(name) ?? [])
  const filter = args.filter === null ? null : compileFilter(args.filter, host.evaluation())
  const documents = describeUsers(users, args, store.graph)
  return reply().documents('users', filter === null ? documents : documents.filter((each) => filter.matches(each)))
}

function runRolesInfo(command: CommandOnUsers): DocumentWriter {
  const { store, body, db } = command
  const args = parseRolesInfo(body, db, rulesOf(command))
  const { roles, asUserFragment, showAuthenticationRestrictions, showBuiltInRoles } = args
  if (typeof roles === 'string')
    return reply().documents('roles', describeRolesOf(roles, showBuiltInRoles, args, store.graph))
  if (asUserFragment)
    return reply().document('userFragment', describeAsUser(roles, showAuthenticationRestrictions, store.graph))
  return reply().documents('roles', describeRoles(roles, args, store.graph))
}

const runs: Readonly<Record<UserCommand, Run>> = {
  createUser: runCreateUser,
  updateUser: runUpdateUser,
  dropUser: runDropUser,
  dropAllUsersFromDatabase: runDropAllUsers,
  grantRolesToUser: changingUser('grantRolesToUser', parseUserRoleArguments, grantRolesToUser),
  revokeRolesFromUser: changingUser('revokeRolesFromUser', parseUserRoleArguments, revokeRolesFromUser),
  createRole: changingRole('createRole', parseRoleArguments, createRole),
  updateRole: changingRole('updateRole', parseRoleArguments, updateRole),
  dropRole: runDropRole,
  dropAllRolesFromDatabase: runDropAllRoles,
  grantPrivilegesToRole: changingRole('grantPrivilegesToRole', parseRolePrivilegeArguments, grantPrivilegesToRole),
  revokePrivilegesFromRole: changingRole(
    'revokePrivilegesFromRole',
    parseRolePrivilegeArguments,
    revokePrivilegesFromRole,
  ),
  grantRolesToRole: changingRole('grantRolesToRole', parseRoleRoleArguments, grantRolesToRole),
  revokeRolesFromRole: changingRole('revokeRolesFromRole', parseRoleRoleArguments, revokeRolesFromRole),
  _mergeAuthzCollections: runMerge,
  usersInfo: runUsersInfo,
  rolesInfo: runRolesInfo,
}
