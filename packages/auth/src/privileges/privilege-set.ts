import type { AccessRules } from '../rules/access-rules.js'
import { anyAction } from './action-type-table.js'
import { mergePrivileges, type Privilege } from './privilege.js'
import { databaseResource, patternKey, patternsCovering, reachesInto, type Resource } from './resource.js'

/** Answers what a client may do. Server: AuthorizationSessionImpl::_isAuthorizedForPrivilege. */
export class PrivilegeSet {
  readonly privileges: readonly Privilege[]
  readonly #rules: AccessRules
  readonly #actions: ReadonlyMap<string, ReadonlySet<string>>

  constructor(privileges: Iterable<Privilege>, rules: AccessRules) {
    this.privileges = mergePrivileges(privileges)
    this.#rules = rules
    this.#actions = new Map(this.privileges.map(({ resource, actions }) => [patternKey(resource), actions]))
  }

  /** The actions may come from different privileges. */
  allows(resource: Resource, ...actions: readonly string[]): boolean {
    const unmet = new Set(actions)
    for (const pattern of patternsCovering(resource, this.#rules)) {
      const granted = this.#actions.get(patternKey(pattern))
      if (granted === undefined) continue
      if (granted.has(anyAction)) return true
      for (const action of unmet) if (granted.has(action)) unmet.delete(action)
    }
    return unmet.size === 0
  }

  allowsOnDatabase(db: string, ...actions: readonly string[]): boolean {
    return this.allows(databaseResource(db), ...actions)
  }

  /** Whether the client may learn that the resource exists. */
  allowsAnything(resource: Resource): boolean {
    return patternsCovering(resource, this.#rules).some((pattern) => this.#actions.has(patternKey(pattern)))
  }

  /** As `listCollections` with `authorizedCollections`, and `listDatabases`, ask. */
  reachesInto(db: string): boolean {
    return this.privileges.some(({ resource }) => reachesInto(resource, db))
  }
}
