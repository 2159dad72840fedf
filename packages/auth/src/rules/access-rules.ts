import { actionTypeTable } from '../privileges/action-type-table.js'
import { accessRuleTable, type AccessRuleName } from './access-rule-table.js'
import { isAlive, type Lifetime } from './lifetime.js'

/** What is true in the emulated release. Immutable, and shared by all users of a member. */
export class AccessRules {
  readonly #releases: ReadonlySet<string>
  readonly #rules: ReadonlySet<string>
  readonly #actions: ReadonlyMap<string, number>

  /** @param releases the emulated one and all older ones: this package does not know their order */
  constructor(releases: Iterable<string>) {
    this.#releases = new Set(releases)
    this.#rules = new Set(
      Object.entries<Lifetime>(accessRuleTable)
        .filter(([, lifetime]) => this.includes(lifetime))
        .map(([name]) => name),
    )
    this.#actions = new Map(
      actionTypeTable.filter((action) => this.includes(action)).map(({ name }, order) => [name, order]),
    )
  }

  has(rule: AccessRuleName): boolean {
    return this.#rules.has(rule)
  }

  /** Whether something with this lifetime exists in the emulated release. */
  includes(lifetime: Lifetime): boolean {
    return isAlive(lifetime, this.#releases)
  }

  isAction(name: string): boolean {
    return this.#actions.has(name)
  }

  /** In the order in which the server lists them. */
  get actions(): readonly string[] {
    return [...this.#actions.keys()]
  }

  /** Sorts names of actions into the server's order. */
  inOrder(actions: Iterable<string>): string[] {
    return [...actions].sort((a, b) => (this.#actions.get(a) ?? 0) - (this.#actions.get(b) ?? 0))
  }
}
