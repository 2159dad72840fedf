import { CommandError, type RawValue } from '@shardlab/bson'
import { distinctRoles, fullRoleName, roleKey, type RoleName } from '../names.js'
import { mergePrivileges, type Privilege } from '../privileges/privilege.js'
import type { AccessRules } from '../rules/access-rules.js'
import { isBuiltInRole, privilegesOfBuiltInRole } from './built-in-roles.js'
import type { RoleDocument } from './role-document.js'

export interface ResolvedRoles {
  /** Those that the given roles inherit from. A given role is among them only if another has it. */
  readonly roles: readonly RoleName[]
  readonly privileges: readonly Privilege[]
  /** An array for each role that has restrictions. */
  readonly restrictions: readonly RawValue[]
}

/** The user-defined roles of a deployment. Server: AuthorizationBackendLocal. Immutable. */
export class RoleGraph {
  readonly rules: AccessRules
  readonly #roles: ReadonlyMap<string, RoleDocument>

  constructor(roles: Iterable<RoleDocument>, rules: AccessRules) {
    this.rules = rules
    this.#roles = new Map([...roles].map((role) => [roleKey(role.name), role]))
  }

  get roles(): IterableIterator<RoleDocument> {
    return this.#roles.values()
  }

  /** Undefined: the role is unknown or built in. */
  find(role: RoleName): RoleDocument | undefined {
    return isBuiltInRole(role, this.rules) ? undefined : this.#roles.get(roleKey(role))
  }

  has(role: RoleName): boolean {
    return isBuiltInRole(role, this.rules) || this.#roles.has(roleKey(role))
  }

  /** @throws CommandError RoleNotFound */
  requireAll(roles: readonly RoleName[]): void {
    const unknown = distinctRoles(roles).filter((role) => !this.has(role))
    if (unknown.length === 0) return
    throw new CommandError(
      'RoleNotFound',
      this.rules.has('generatedParsers')
        ? `Could not find role${unknown.length > 1 ? 's' : ''}: ${unknown.map(fullRoleName).join(', ')}`
        : `No role named ${fullRoleName(unknown[0]!)}`,
    )
  }

  /** Roles that do not exist, such as dropped ones, give nothing. Cycles are allowed. */
  resolve(roles: Iterable<RoleName>): ResolvedRoles {
    const inherited = new Map<string, RoleName>()
    const privileges: Privilege[] = []
    const restrictions: RawValue[] = []
    const open = distinctRoles(roles)
    const seen = new Set(open.map(roleKey))
    for (const name of open) {
      if (isBuiltInRole(name, this.rules)) {
        privileges.push(...privilegesOfBuiltInRole(name, this.rules))
        continue
      }
      const role = this.#roles.get(roleKey(name))
      if (role === undefined) continue
      privileges.push(...role.privileges)
      if (role.authenticationRestrictions !== null) restrictions.push(role.authenticationRestrictions)
      for (const next of role.roles) {
        const key = roleKey(next)
        inherited.set(key, next)
        if (seen.has(key)) continue
        seen.add(key)
        open.push(next)
      }
    }
    return { roles: [...inherited.values()], privileges: mergePrivileges(privileges), restrictions }
  }

  /** The roles and all that they inherit from. */
  allRoles(roles: readonly RoleName[]): RoleName[] {
    return distinctRoles([...roles, ...this.resolve(roles).roles])
  }

  /**
   * Refuses a role that includes itself, roles of other databases, unknown ones, and cycles.
   * Server: checkOkayToGrantRolesToRole.
   * @throws CommandError InvalidRoleModification, RoleNotFound
   */
  checkGrant(role: RoleName, added: readonly RoleName[]): void {
    for (const each of added) {
      this.#checkPair(role, each)
      if (!this.rules.has('generatedParsers')) this.#checkExistsAndIsNoCycle(role, each)
    }
    if (!this.rules.has('generatedParsers')) return
    try {
      this.requireAll(added)
    } catch (error) {
      const { code, message } = error as CommandError
      throw new CommandError(code, `Cannot grant roles to '${fullRoleName(role)}': ${message}`)
    }
    if (this.#inherits(added, role))
      throw new CommandError(
        'InvalidRoleModification',
        `Granting roles to ${fullRoleName(role)} would introduce a cycle in the role graph`,
      )
  }

  #checkPair(role: RoleName, added: RoleName): void {
    if (roleKey(role) === roleKey(added))
      throw new CommandError('InvalidRoleModification', `Cannot grant role ${fullRoleName(role)} to itself.`)
    if (role.db !== 'admin' && added.db !== role.db)
      throw new CommandError(
        'InvalidRoleModification',
        `Roles on the '${role.db}' database cannot be granted roles from other databases`,
      )
  }

  #checkExistsAndIsNoCycle(role: RoleName, added: RoleName): void {
    if (!this.has(added)) throw new CommandError('RoleNotFound', `Cannot grant nonexistent role ${fullRoleName(added)}`)
    if (this.#inherits([added], role))
      throw new CommandError(
        'InvalidRoleModification',
        `Granting ${fullRoleName(added)} to ${fullRoleName(role)} would introduce a cycle in the role graph.`,
      )
  }

  #inherits(roles: readonly RoleName[], from: RoleName): boolean {
    return this.resolve(roles).roles.some((each) => roleKey(each) === roleKey(from))
  }
}
