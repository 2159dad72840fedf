/**
 * Documents of usersInfo. Manual: reference/command/usersInfo. Server:
 * `authorization_backend_local.cpp`.
 */
import { DocumentWriter } from '@shardlab/bson'
import { writeRoles } from '../names.js'
import { writePrivileges } from '../privileges/privilege.js'
import { writeRestrictions } from '../roles/describe-roles.js'
import type { RoleGraph } from '../roles/role-graph.js'
import { mechanismsOf, writeUserFields, type UserDocument } from './user-document.js'

export interface UserDetails {
  readonly showCredentials: boolean
  readonly showCustomData: boolean
  /** With one of these, the command must name its users. */
  readonly showPrivileges: boolean
  readonly showAuthenticationRestrictions: boolean
}

/** Users are sorted by name, then database. */
export function describeUsers(users: readonly UserDocument[], details: UserDetails, graph: RoleGraph): Uint8Array[] {
  const isFull = details.showPrivileges || details.showAuthenticationRestrictions
  return [...users]
    .sort((a, b) => compare(a.name.user, b.name.user) || compare(a.name.db, b.name.db))
    .map((user) => (isFull ? describeFully(user, details, graph) : describe(user, details, graph)))
}

function describe(user: UserDocument, details: UserDetails, graph: RoleGraph): Uint8Array {
  const writer = new DocumentWriter()
  const writeCredentials = (): void => {
    if (details.showCredentials) writer.document('credentials', user.credentials)
  }
  writeUserFields(writer, user, writeCredentials, { customData: details.showCustomData, restrictions: false })
  if (graph.rules.has('mechanisms')) writeMechanisms(writer, user)
  return writer.finish()
}

function describeFully(user: UserDocument, details: UserDetails, graph: RoleGraph): Uint8Array {
  const writer = new DocumentWriter()
  const { rules } = graph
  const writeCredentials = (): void => {
    if (rules.has('mechanisms')) writeMechanisms(writer, user)
    if (details.showCredentials) writer.document('credentials', user.credentials)
  }
  writeUserFields(writer, user, writeCredentials, {
    customData: details.showCustomData,
    restrictions: details.showAuthenticationRestrictions,
  })
  const lacksRestrictions = details.showAuthenticationRestrictions && user.authenticationRestrictions === null
  if (lacksRestrictions && rules.has('generatedParsers')) writer.startArray('authenticationRestrictions').end()
  const { privileges, restrictions } = graph.resolve(user.roles)
  writeRoles(writer, 'inheritedRoles', graph.allRoles(user.roles))
  writePrivileges(writer, 'inheritedPrivileges', privileges, rules)
  if (rules.has('authenticationRestrictions')) writeRestrictions(writer, restrictions)
  if (lacksRestrictions && !rules.has('generatedParsers')) writer.startArray('authenticationRestrictions').end()
  return writer.finish()
}

function writeMechanisms(writer: DocumentWriter, user: UserDocument): void {
  writer.startArray('mechanisms')
  mechanismsOf(user).forEach((mechanism, i) => writer.string(String(i), mechanism))
  writer.end()
}

/** By bytes, as names are compared in UTF-8. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
