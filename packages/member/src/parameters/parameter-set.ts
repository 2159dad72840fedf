import { CommandError, type DocumentWriter, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { failPointParameters, failPointPrefix } from './fail-point-parameters.js'
import {
  parseParameter,
  refuseValue,
  writeParameter,
  type ParameterOwner,
  type ParameterRow,
  type ParameterValue,
} from './parameter.js'
import { startValue, type StartParameters } from './start-parameters.js'
import { memberParameters, type MemberParameterName } from './member-parameters.js'

/** @throws CommandError those of {@link parseParameter}, and the row's refusal */
function acceptedValue(row: ParameterRow, value: RawValue): ParameterValue {
  const parsed = parseParameter(row, value)
  refuseValue(row, parsed)
  return parsed
}

/** By version and by the table of the role. Members share the rows. */
const rowsByBehaviours = new WeakMap<Behaviours, Map<readonly ParameterRow[], ReadonlyMap<string, ParameterRow>>>()

/** By name, without the fail points. @param own parameters of the role */
export function parameterRows(behaviours: Behaviours, own: readonly ParameterRow[]): ReadonlyMap<string, ParameterRow> {
  const byRole =
    rowsByBehaviours.get(behaviours) ?? new Map<readonly ParameterRow[], ReadonlyMap<string, ParameterRow>>()
  rowsByBehaviours.set(behaviours, byRole)
  let rows = byRole.get(own)
  if (rows === undefined) {
    const has = ({ behaviour }: ParameterRow): boolean =>
      behaviour === undefined || (behaviours as unknown as Record<string, unknown>)[behaviour] === true
    const sorted = [...memberParameters, ...own].filter(has).sort((a, b) => (a.name < b.name ? -1 : 1))
    rows = new Map(sorted.map((row) => [row.name, row]))
    byRole.set(own, rows)
  }
  return rows
}

/** `Name`: the parameters of its role. */
export class ParameterSet<Name extends string = never> {
  readonly #host: ParameterOwner
  readonly #rows: ReadonlyMap<string, ParameterRow>
  readonly #values = new Map<string, ParameterValue>()
  readonly #watchers = new Map<string, () => void>()
  /** The options of the process that name a parameter of it, as they were given. */
  readonly given: StartParameters

  /**
   * @param own parameters of the role; all processes of the role pass the same array
   * @param given as options of the process; names of other processes have no effect
   * @throws CommandError as {@link startValue}
   */
  constructor(
    host: ParameterOwner,
    own: readonly (ParameterRow & { readonly name: Name })[],
    given: StartParameters = {},
  ) {
    this.#host = host
    this.#rows = parameterRows(host.behaviours, own)
    this.given = Object.fromEntries(Object.entries(given).filter(([name]) => this.#rows.has(name)))
    for (const [name, value] of Object.entries(this.given))
      this.#values.set(name, startValue(this.#rows.get(name)!, value))
  }

  get rows(): readonly ParameterRow[] {
    return [...this.#rows.values(), ...failPointParameters(this.#host)]
  }

  find(name: string): ParameterRow | undefined {
    return (
      this.#rows.get(name) ??
      (name.startsWith(failPointPrefix) ? this.rows.find((row) => row.name === name) : undefined)
    )
  }

  number(name: MemberParameterName | Name): number {
    return this.#valueOf(name) as number
  }

  bool(name: MemberParameterName | Name): boolean {
    return this.#valueOf(name) === true
  }

  string(name: MemberParameterName | Name): string {
    return this.#valueOf(name) as string
  }

  strings(name: MemberParameterName | Name): readonly string[] {
    return this.#valueOf(name) as readonly string[]
  }

  write(writer: DocumentWriter, row: ParameterRow, name = row.name): void {
    writeParameter(writer, name, row, this.#values.get(row.name) ?? row.initial, this.#host)
  }

  /**
   * @throws CommandError 72 InvalidOptions for an unknown parameter, 20 IllegalOperation when it
   *   can be set only at startup, 2 BadValue
   */
  set(name: string, value: RawValue): void {
    const row = this.checkSettable(name)
    const changes = row.parse?.(value, this.#host) ?? [[name, acceptedValue(row, value)] as const]
    for (const [changed, parsed] of changes) this.#values.set(changed, parsed)
    this.#watchers.get(name)?.()
  }

  /** As an option of the process. Unlike {@link set}, also what cannot be changed at runtime. */
  setAtStartup(name: MemberParameterName | Name, value: ParameterValue): void {
    this.#values.set(name, value)
  }

  /** Calls `changed` after a client has set the parameter. */
  watch(name: MemberParameterName | Name, changed: () => void): void {
    this.#watchers.set(name, changed)
  }

  /** Only parameters that can be set at runtime. */
  export(): ReadonlyMap<string, ParameterValue> {
    return new Map(
      [...this.#rows.values()].filter((row) => row.settableAtRuntime).map(({ name }) => [name, this.#valueOf(name)!]),
    )
  }

  /** Sets values that {@link export} of another member returned, without calling watchers. */
  import(values: ReadonlyMap<string, ParameterValue>): void {
    for (const [name, value] of values)
      if (this.#rows.get(name)?.settableAtRuntime === true) this.#values.set(name, value)
  }

  /** @throws CommandError 72, 20 as {@link set} */
  checkSettable(name: string): ParameterRow {
    const row = this.find(name)
    if (row === undefined)
      throw new CommandError(
        'InvalidOptions',
        `attempted to set unrecognized parameter [${name}], use help:true to see options `,
      )
    if (!row.settableAtRuntime) throw new CommandError('IllegalOperation', `not allowed to change [${name}] at runtime`)
    return row
  }

  #valueOf(name: string): ParameterValue | undefined {
    return this.#values.get(name) ?? this.#rows.get(name)?.initial
  }
}
