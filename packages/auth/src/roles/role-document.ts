/** Documents of `admin.system.roles`. Manual: reference/system-roles-collection. */
import { BsonType, CommandError, DocumentWriter, elementsOf, findField, type RawValue } from '@shardlab/bson'
import { distinctRoles, fullRoleName, readRoleName, roleKey, writeRoles, type RoleName } from '../names.js'
import { parsePrivileges } from '../privileges/parse-privileges.js'
import { writePrivileges, type Privilege } from '../privileges/privilege.js'
import type { AccessRules } from '../rules/access-rules.js'

export interface RoleDocument {
  readonly name: RoleName
  readonly privileges: readonly Privilege[]
  readonly roles: readonly RoleName[]
  /** An array, as the client sent it. Null: none. */
  readonly authenticationRestrictions: RawValue | null
}

export function writeRole(role: RoleDocument, rules: AccessRules): Uint8Array {
  const writer = new DocumentWriter()
  writeRoleFields(writer, role, rules, true)
  if (role.authenticationRestrictions !== null)
    writer.value('authenticationRestrictions', role.authenticationRestrictions)
  return writer.finish()
}

/** Without restrictions. */
export function writeRoleFields(
  writer: DocumentWriter,
  { name, privileges, roles }: RoleDocument,
  rules: AccessRules,
  withPrivileges: boolean,
): void {
  writer.string('_id', roleKey(name)).string('role', name.role).string('db', name.db)
  if (withPrivileges) writePrivileges(writer, 'privileges', privileges, rules)
  writeRoles(writer, 'roles', roles)
}

/** @throws CommandError UnsupportedFormat, BadValue, and those of {@link parsePrivileges} */
export function readRole(document: Uint8Array, rules: AccessRules): RoleDocument {
  const text = (field: string): string => {
    const value = findField(document, field)
    if (value?.type !== BsonType.string || value.asString() === '')
      throw new CommandError('UnsupportedFormat', `Role document needs '${field}' field to be a non-empty string`)
    return value.asString()
  }
  const name = { role: text('role'), db: text('db') }
  const array = (field: string): RawValue => {
    const value = findField(document, field)
    if (value?.type !== BsonType.array)
      throw new CommandError('UnsupportedFormat', `Invalid '${field}' field in role document '${fullRoleName(name)}'`)
    return value
  }
  const restrictions = findField(document, 'authenticationRestrictions')
  return {
    name,
    privileges: parsePrivileges(array('privileges'), rules),
    roles: distinctRoles(elementsOf(array('roles')).map((each) => readRoleName(each, name.db))),
    authenticationRestrictions: restrictions?.type === BsonType.array ? restrictions.detached() : null,
  }
}
