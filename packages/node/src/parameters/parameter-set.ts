import { CommandError, type DocumentWriter, type RawValue } from '@shardlab/bson'
import type { CommonHost } from '../common/common-invocation.js'
import { failPointParameters } from '../fail-points/parameters.js'
import { parseParameter, writeParameter, type ParameterRow, type ParameterValue } from './parameter.js'
import { parameterTable, type ParameterName } from './parameter-table.js'

/** The parameters of one member with their values. They last as long as the member lives. */
export class ParameterSet {
  readonly #host: CommonHost
  readonly #rows = new Map<string, ParameterRow>()
  readonly #values = new Map<string, ParameterValue>()
  readonly #watchers = new Map<string, () => void>()

  constructor(host: CommonHost) {
    this.#host = host
    for (const row of [...(parameterTable as readonly ParameterRow[]), ...failPointParameters(host)]) {
      if (row.only !== undefined && row.only !== host.process) continue
      if (row.behaviour !== undefined && (host.behaviours as unknown as Record<string, unknown>)[row.behaviour] !== true) continue
      this.#rows.set(row.name, row)
      this.#values.set(row.name, typeof row.initial === 'function' ? row.initial(host) : row.initial)
    }
  }

  /** All rows of this member, by name. */
  get rows(): IterableIterator<ParameterRow> {
    return this.#rows.values()
  }

  find(name: string): ParameterRow | undefined {
    return this.#rows.get(name)
  }

  /** The value of a numeric parameter; throws when this member has none of this name. */
  number(name: ParameterName): number {
    return this.#values.get(name) as number
  }

  bool(name: ParameterName): boolean {
    return this.#values.get(name) === true
  }

  write(writer: DocumentWriter, row: ParameterRow, name = row.name): void {
    writeParameter(writer, name, row, this.#values.get(row.name)!, this.#host)
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
    return new Map([...this.#rows.values()].filter((row) => row.settableAtRuntime).map(({ name }) => [name, this.#values.get(name)!]))
  }

  /** Takes over values that another member of the same kind has exported. Nobody is told: see {@link watch}. */
  import(values: ReadonlyMap<string, ParameterValue>): void {
    for (const [name, value] of values) if (this.#rows.get(name)?.settableAtRuntime === true) this.#values.set(name, value)
  }

  /** @throws CommandError 72, 20 as {@link set} */
  checkSettable(name: string): ParameterRow {
    const row = this.#rows.get(name)
    if (row === undefined)
      throw new CommandError('InvalidOptions', `attempted to set unrecognized parameter [${name}], use help:true to see options `)
    if (!row.settableAtRuntime) throw new CommandError('IllegalOperation', `not allowed to change [${name}] at runtime`)
    if (name === 'requireApiVersion' && this.#host.process === 'mongod')
      throw new CommandError('IllegalOperation', 'Cannot set parameter requireApiVersion=true on a shard or config server')
    return row
  }
}
