/**
 * Documents of rolesInfo. Manual: reference/command/rolesInfo. Server:
 * `authorization_backend_local.cpp`.
 */
import { DocumentWriter, type RawValue } from '@shardlab/bson'
import { writeRoles, type RoleName } from '../names.js'
import { mergePrivileges, writePrivileges } from '../privileges/privilege.js'
import { builtInRolesOf, isBuiltInRole, privilegesOfBuiltInRole } from './built-in-roles.js'
import { writeRoleFields, type RoleDocument } from './role-document.js'
import type { RoleGraph } from './role-graph.js'

export interface RoleDetails {
  readonly showPrivileges: boolean
  readonly showAuthenticationRestrictions: boolean
}

/** Unknown roles are left out. */
export function describeRoles(roles: readonly RoleName[], details: RoleDetails, graph: RoleGraph): Uint8Array[] {
  return roles.flatMap((name) => {
    if (isBuiltInRole(name, graph.rules)) return [describeBuiltIn(name, details, graph, false)]
    const role = graph.find(name)
    return role === undefined ? [] : [describeUserDefined(role, details, graph, false)]
  })
}

/** The roles of a database, built-in ones first. */
export function describeRolesOf(
  db: string,
  showBuiltInRoles: boolean,
  details: RoleDetails,
  graph: RoleGraph,
): Uint8Array[] {
  const builtIn = showBuiltInRoles ? builtInRolesOf(db, graph.rules) : []
  const userDefined = [...graph.roles].filter(({ name }) => name.db === db)
  return [
    ...builtIn.map((role) => describeBuiltIn(role, details, graph, true)),
    ...userDefined.map((role) => describeUserDefined(role, details, graph, true)),
  ]
}

/** `showPrivileges: 'asUserFragment'`: as if one user had these roles. */
export function describeAsUser(
  roles: readonly RoleName[],
  showAuthenticationRestrictions: boolean,
  graph: RoleGraph,
): Uint8Array {
  const writer = writeRoles(new DocumentWriter(), 'roles', roles)
  const { privileges, restrictions } = graph.resolve(roles)
  writeRoles(writer, 'inheritedRoles', graph.allRoles(roles))
  writePrivileges(writer, 'inheritedPrivileges', privileges, graph.rules)
  if (showAuthenticationRestrictions) writeRestrictions(writer, restrictions)
  return writer.finish()
}

/** @param isListed in a listing of a database, whose documents have another order of fields */
function describeBuiltIn(name: RoleName, details: RoleDetails, graph: RoleGraph, isListed: boolean): Uint8Array {
  const { rules } = graph
  const privileges = privilegesOfBuiltInRole(name, rules)
  const role: RoleDocument = { name, privileges, roles: [], authenticationRestrictions: null }
  if (!rules.has('generatedParsers')) return describeByGraph(role, true, details, graph)
  const writer = new DocumentWriter()
  if (isListed) {
    writer.string('role', name.role).string('db', name.db).bool('isBuiltin', true)
    writeRoles(writer, 'roles', [])
    writeRoles(writer, 'inheritedRoles', [])
    if (details.showPrivileges) {
      writePrivileges(writer, 'privileges', privileges, rules)
      writePrivileges(writer, 'inheritedPrivileges', privileges, rules)
    }
    if (details.showAuthenticationRestrictions) {
      writeOwnRestrictions(writer, role)
      writeRestrictions(writer, [])
    }
    return writer.finish()
  }
  writeRoles(writer.string('db', name.db).string('role', name.role), 'roles', [])
  if (details.showPrivileges) writePrivileges(writer, 'privileges', privileges, rules)
  if (details.showAuthenticationRestrictions) writeOwnRestrictions(writer, role)
  writeRoles(writer, 'inheritedRoles', [])
  if (details.showPrivileges) writePrivileges(writer, 'inheritedPrivileges', privileges, rules)
  if (details.showAuthenticationRestrictions) writeRestrictions(writer, [])
  return writer.bool('isBuiltin', true).finish()
}

function describeUserDefined(
  role: RoleDocument,
  details: RoleDetails,
  graph: RoleGraph,
  isListed: boolean,
): Uint8Array {
  const { rules } = graph
  if (!rules.has('generatedParsers')) return describeByGraph(role, false, details, graph)
  const writer = new DocumentWriter()
  const { privileges, restrictions } = graph.resolve(role.roles)
  writeRoleFields(writer, role, rules, details.showPrivileges)
  if (details.showAuthenticationRestrictions) writeOwnRestrictions(writer, role)
  if (isListed) writer.bool('isBuiltin', false)
  writeRoles(writer, 'inheritedRoles', graph.allRoles(role.roles))
  // The server does not merge them.
  if (details.showPrivileges) writePrivileges(writer, 'inheritedPrivileges', [...role.privileges, ...privileges], rules)
  if (details.showAuthenticationRestrictions) writeRestrictions(writer, withOwnRestrictions(role, restrictions))
  if (!isListed) writer.bool('isBuiltin', false)
  return writer.finish()
}

/** Of 2.6 to 4.4, from the graph in memory. Server: authz_manager_external_state_local.cpp. */
function describeByGraph(role: RoleDocument, isBuiltIn: boolean, details: RoleDetails, graph: RoleGraph): Uint8Array {
  const { rules } = graph
  const { privileges, restrictions } = graph.resolve(role.roles)
  const writer = new DocumentWriter()
  writer.string('role', role.name.role).string('db', role.name.db).bool('isBuiltin', isBuiltIn)
  writeRoles(writer, 'roles', role.roles)
  writeRoles(writer, 'inheritedRoles', graph.allRoles(role.roles))
  if (details.showPrivileges) writePrivileges(writer, 'privileges', role.privileges, rules)
  if (details.showAuthenticationRestrictions) writeOwnRestrictions(writer, role)
  if (details.showPrivileges)
    writePrivileges(writer, 'inheritedPrivileges', mergePrivileges([...role.privileges, ...privileges]), rules)
  if (details.showAuthenticationRestrictions) writeRestrictions(writer, withOwnRestrictions(role, restrictions))
  return writer.finish()
}

function withOwnRestrictions(
  { authenticationRestrictions: own }: RoleDocument,
  inherited: readonly RawValue[],
): readonly RawValue[] {
  return own === null ? inherited : [own, ...inherited]
}

/** In an array of one array: the server lifts them there for rolesInfo. */
function writeOwnRestrictions(writer: DocumentWriter, { authenticationRestrictions: own }: RoleDocument): void {
  writer.startArray('authenticationRestrictions')
  if (own !== null) writer.value('0', own)
  writer.end()
}

/** An array for each role. */
export function writeRestrictions(writer: DocumentWriter, restrictions: readonly RawValue[]): void {
  writer.startArray('inheritedAuthenticationRestrictions')
  restrictions.forEach((array, i) => writer.value(String(i), array))
  writer.end()
}
