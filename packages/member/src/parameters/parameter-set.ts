import { CommandError, type DocumentWriter, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { failPointParameters, failPointPrefix } from './fail-point-parameters.js'
import {
  parseParameter,
  writeParameter,
  type ParameterOwner,
  type ParameterRow,
  type ParameterValue,
} from './parameter.js'
import { parameterTable, type ParameterName } from './parameter-table.js'

/** Rows without the fail points, by the process that has them: members of one version share them. */
const rowsByBehaviours = new WeakMap<Behaviours, Map<ParameterOwner['process'], ReadonlyMap<string, ParameterRow>>>()

function rowsOf(host: ParameterOwner): ReadonlyMap<string, ParameterRow> {
  const { behaviours } = host
  const byProcess =
    rowsByBehaviours.get(behaviours) ?? new Map<ParameterOwner['process'], ReadonlyMap<string, ParameterRow>>()
  rowsByBehaviours.set(behaviours, byProcess)
  let rows = byProcess.get(host.process)
  if (rows === undefined) {
    const has = ({ only, behaviour }: ParameterRow): boolean =>
      (only === undefined || only === host.process) &&
      (behaviour === undefined || (behaviours as unknown as Record<string, unknown>)[behaviour] === true)
    rows = new Map((parameterTable as readonly ParameterRow[]).filter(has).map((row) => [row.name, row]))
    byProcess.set(host.process, rows)
  }
  return rows
}

/** The parameters of one member with their values. They last as long as the member lives. */
export class ParameterSet {
  readonly #host: ParameterOwner
  readonly #rows: ReadonlyMap<string, ParameterRow>
  /** Those that are not what they are at the start, and those of which the member decides that. */
  readonly #values = new Map<string, ParameterValue>()
  readonly #watchers = new Map<string, () => void>()

  constructor(host: ParameterOwner) {
    this.#host = host
    this.#rows = rowsOf(host)
    for (const { name, initial } of this.#rows.values())
      if (typeof initial === 'function') this.#values.set(name, initial(host))
  }

  /** All rows of this member, by name. */
  get rows(): readonly ParameterRow[] {
    return [...this.#rows.values(), ...failPointParameters(this.#host)]
  }

  find(name: string): ParameterRow | undefined {
    return (
      this.#rows.get(name) ??
      (name.startsWith(failPointPrefix) ? this.rows.find((row) => row.name === name) : undefined)
    )
  }

  /** The value of a numeric parameter; throws when this member has none of this name. */
  number(name: ParameterName): number {
    return this.#valueOf(name) as number
  }

  bool(name: ParameterName): boolean {
    return this.#valueOf(name) === true
  }

  write(writer: DocumentWriter, row: ParameterRow, name = row.name): void {
    writeParameter(writer, name, row, this.#values.get(row.name) ?? (row.initial as ParameterValue), this.#host)
  }

  /**
   * Changes a parameter while the member runs.
   * @throws CommandError 72 InvalidOptions: unknown; 20 IllegalOperation: only at startup; 2 BadValue
   */
  set(name: string, value: RawValue): void {
    this.#values.set(name, parseParameter(this.checkSettable(name), value))
    this.#watchers.get(name)?.()
  }

  /** Has `changed` called whenever a client has set the parameter. */
  watch(name: ParameterName, changed: () => void): void {
    this.#watchers.set(name, changed)
  }

  /** The values that clients may set. */
  export(): ReadonlyMap<string, ParameterValue> {
    return new Map(
      [...this.#rows.values()].filter((row) => row.settableAtRuntime).map(({ name }) => [name, this.#valueOf(name)!]),
    )
  }

  /** Takes over values that another member of the same kind has exported. Nobody is told: see {@link watch}. */
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
    if (name === 'requireApiVersion' && this.#host.process === 'mongod')
      throw new CommandError(
        'IllegalOperation',
        'Cannot set parameter requireApiVersion=true on a shard or config server',
      )
    return row
  }

  #valueOf(name: string): ParameterValue | undefined {
    return this.#values.get(name) ?? (this.#rows.get(name)?.initial as ParameterValue | undefined)
  }
}
