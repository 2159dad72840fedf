import type { PrivilegeSet } from './privilege-set.js'
import { databaseResource, type Resource } from './resource.js'

/** The questions that can be asked about privileges. */
export type Privileges = Pick<PrivilegeSet, keyof PrivilegeSet>

/** A question that was answered with yes. */
export interface UsedPrivilege {
  readonly resource: Resource
  readonly actions: readonly string[]
}

/**
 * Remembers what a command was allowed by, so that its cursor can ask again after privileges have
 * changed. Server: ClientCursorParams, originatingPrivileges.
 */
export class RecordedPrivileges implements Privileges {
  readonly #whole: Privileges
  readonly used: UsedPrivilege[] = []

  constructor(whole: Privileges) {
    this.#whole = whole
  }

  get privileges(): Privileges['privileges'] {
    return this.#whole.privileges
  }

  allows(resource: Resource, ...actions: readonly string[]): boolean {
    const isAllowed = this.#whole.allows(resource, ...actions)
    if (isAllowed) this.used.push({ resource, actions })
    return isAllowed
  }

  allowsOnDatabase(db: string, ...actions: readonly string[]): boolean {
    return this.allows(databaseResource(db), ...actions)
  }

  allowsAnything(resource: Resource): boolean {
    return this.#whole.allowsAnything(resource)
  }

  reachesInto(db: string): boolean {
    return this.#whole.reachesInto(db)
  }
}
