import type { RoleName } from '../names.js'
import { isDatabaseName } from '../privileges/parse-privileges.js'
import { mergePrivileges, privilege, type Privilege } from '../privileges/privilege.js'
import { databaseResource, exactResource } from '../privileges/resource.js'
import type { AccessRules } from '../rules/access-rules.js'
import { builtInRoleTable, type BuiltInRole, type Grant } from './built-in-role-table.js'

const byName: ReadonlyMap<string, BuiltInRole> = new Map(builtInRoleTable.map((role) => [role.name, role]))

/** Server: auth::isBuiltinRole. */
export function isBuiltInRole({ role, db }: RoleName, rules: AccessRules): boolean {
  const row = byName.get(role)
  if (row === undefined || !rules.includes(row)) return false
  return row.isAdminOnly ? db === 'admin' : db !== '$external' && isDatabaseName(db)
}

/** In the order of the alphabet. */
export function builtInRolesOf(db: string, rules: AccessRules): RoleName[] {
  return builtInRoleTable
    .map(({ name }) => ({ role: name, db }))
    .filter((role) => isBuiltInRole(role, rules))
    .sort((a, b) => (a.role < b.role ? -1 : 1))
}

/**
 * With those of included roles: to clients a built-in role inherits from no other.
 * @param role of which {@link isBuiltInRole} is true
 */
export function privilegesOfBuiltInRole(role: RoleName, rules: AccessRules): Privilege[] {
  return mergePrivileges(collect(role, rules))
}

function collect({ role, db }: RoleName, rules: AccessRules): Privilege[] {
  const row = byName.get(role)!
  const own = row.grants.flatMap((grant) => granted(grant, db, rules))
  const included = row.includes
    .filter((each) => rules.includes(each))
    .flatMap((each) => collect({ role: each.role, db: each.db ?? db }, rules))
  return [...included, ...own]
}

function granted(grant: Grant, db: string, rules: AccessRules): Privilege[] {
  if (!rules.includes(grant)) return []
  const actions = grant.actions.filter((action) => rules.isAction(action))
  if (actions.length === 0) return []
  const { on } = grant
  if (!('own' in on)) return [privilege(on, actions)]
  return [privilege(on.own === '' ? databaseResource(db) : exactResource(db, on.own), actions)]
}
