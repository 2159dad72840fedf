/**
 * The check before a command of a client. Server: commands.cpp (checkAuthorizationImplPreParse,
 * CommandInvocation::checkAuthorization).
 */
import {
  ownRemote,
  type AccessQuestion,
  type CommandArguments,
  type CommandPrivileges,
  type CommandRow,
  type NeededResource,
} from '@shardlab/actor'
import {
  clusterResource,
  databaseResource,
  exactResource,
  RecordedPrivileges,
  type CommandAccess,
  type Resource,
} from '@shardlab/auth'
import { BsonType, CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Connection } from '../connections/connection-table.js'
import type { MemberHost } from '../member-host.js'
import type { RunningOperation } from '../operations/running-operation.js'
import { isSharedWith } from './ownership.js'
import { publicCommand } from './redacted.js'
import { accessRulesOf } from './access-rules.js'
import { accessOfConnection, refreshUsers } from './authenticate.js'
import type { ConnectionAccess } from './connection-access.js'
import { isLocalhost, localhostAccess } from './localhost.js'

export interface CheckedCommand {
  readonly host: MemberHost
  readonly row: CommandRow<never>
  readonly connection: Connection
  readonly operation: RunningOperation
  readonly db: string
  readonly body: Uint8Array
  /** Not called for a client without user, who learns nothing else from a malformed command. */
  readonly readArguments: () => CommandArguments
  readonly sequences: AccessQuestion['sequences']
  readonly findRow: (name: string) => Pick<CommandRow<never>, 'name' | 'privileges' | 'sensitive'> | undefined
  readonly namespaceOfUuid: AccessQuestion['namespaceOfUuid']
}

/**
 * @returns null, or a promise if users have to be read first
 * @throws CommandError Unauthorized, and those of the arguments
 */
export function authorize(command: CheckedCommand): Promise<void> | null {
  const { host, row, connection } = command
  if (row.privileges === 'none' || connection.remote === ownRemote) return null
  const access = accessOfConnection(host, connection)
  const refreshed = refreshUsers(host, connection)
  return refreshed === null ? decide(command, access) : decideLater(command, access, refreshed)
}

async function decideLater(command: CheckedCommand, access: ConnectionAccess, read: Promise<void>): Promise<void> {
  await read
  await decide(command, access)
}

function decide(command: CheckedCommand, access: ConnectionAccess): Promise<void> | null {
  const { host } = command
  if (access.users.length > 0) return check(command, access)
  const hasUsers = mayUseException(command) ? host.users.hasAny() : true
  if (typeof hasUsers === 'boolean') return checkWithoutUser(command, access, hasUsers)
  return checkLater(command, access, hasUsers)
}

async function checkLater(command: CheckedCommand, access: CommandAccess, hasUsers: Promise<boolean>): Promise<void> {
  checkWithoutUser(command, access, await hasUsers)
}

function mayUseException({ host, connection }: CheckedCommand): boolean {
  return host.parameters.bool('enableLocalhostAuthBypass') && isLocalhost(connection.remote)
}

function checkWithoutUser(command: CheckedCommand, access: CommandAccess, hasUsers: boolean): null {
  const { host, row } = command
  const rules = accessRulesOf(host.behaviours)
  if (!hasUsers) return check(command, localhostAccess(rules))
  if (!rules.has('needsUser')) return check(command, access)
  const word = rules.has('needsUserCapital') ? 'Command' : 'command'
  throw new CommandError('Unauthorized', `${word} ${row.name} requires authentication`)
}

function check(command: CheckedCommand, access: CommandAccess): null {
  const { host, row, db, body, sequences, findRow, namespaceOfUuid } = command
  const recorded = row.opensCursor === true ? new RecordedPrivileges(access.privileges) : null
  const question: AccessQuestion = {
    command: row.name,
    db,
    body,
    args: command.readArguments(),
    sequences,
    access: recorded === null ? access : withPrivileges(access, recorded),
    rules: accessRulesOf(host.behaviours),
    isRouter: host.process === 'mongos',
    namespaceOfUuid,
    privilegesOf: (name) => findRow(name)?.privileges,
    ownsOperation: (id) => isOwnOperation(command, id),
  }
  if (isAllowed(row.privileges, question)) {
    command.operation.users = command.connection.access!.names
    command.operation.access = command.connection.access
    command.operation.usedPrivileges = recorded?.used ?? null
    return null
  }
  const shown = formatDocument(publicCommand(body, row, findRow))
  throw new CommandError('Unauthorized', `not authorized on ${db} to execute command ${shown}`)
}

function withPrivileges(access: CommandAccess, privileges: RecordedPrivileges): CommandAccess {
  return { privileges, isUser: (name) => access.isUser(name), hasRole: (name) => access.hasRole(name) }
}

function isOwnOperation({ host, connection }: CheckedCommand, id: number): boolean {
  const { names } = connection.access!
  for (const operation of host.operations) if (operation.id === id) return isSharedWith(operation.users, names)
  return false
}

export function isAllowed(privileges: CommandPrivileges, question: AccessQuestion): boolean {
  if (privileges === 'none' || privileges === 'user') return true
  if (typeof privileges === 'function') return asksFor(privileges, question)
  return privileges.every(({ on, actions }) => holds(question, resourceOf(on, question), actions))
}

function asksFor(privileges: (question: AccessQuestion) => boolean, question: AccessQuestion): boolean {
  try {
    return privileges(question)
  } catch (error) {
    // The server replaces the texts of refusals, but not those of other errors.
    if (error instanceof CommandError && error.codeName === 'Unauthorized') return false
    throw error
  }
}

/** Of several actions, those that the emulated version lacks are not asked for. */
export function holds({ access, rules }: AccessQuestion, resource: Resource, actions: readonly string[]): boolean {
  const known = actions.filter((action) => rules.isAction(action))
  return access.privileges.allows(resource, ...(known.length === 0 ? actions : known))
}

function resourceOf(on: NeededResource, { db, args }: AccessQuestion): Resource {
  switch (on) {
    case 'cluster':
      return clusterResource
    case 'database':
      return databaseResource(db)
    case 'namespace':
      return namespaceResource(args.namedCollection(db) ?? db)
    case 'named database':
      return databaseResource(nameIn(args))
    case 'named namespace':
      return namespaceResource(nameIn(args))
  }
}

/** A command whose own field is not a string fails when it runs. */
function nameIn({ target }: CommandArguments): string {
  return target.type === BsonType.string ? target.asString() : ''
}

/** A name without a collection is a database. Server: resourcePatternForNamespace. */
export function namespaceResource(ns: string): Resource {
  const dot = ns.indexOf('.')
  return dot < 0 || dot === ns.length - 1
    ? databaseResource(dot < 0 ? ns : ns.slice(0, dot))
    : exactResource(ns.slice(0, dot), ns.slice(dot + 1))
}
