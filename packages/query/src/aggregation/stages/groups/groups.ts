import { DocumentWriter, type RawValue } from '@shardlab/bson'
import { ValueArena } from '../../../values/value-arena.js'
import type { ValueStore } from '../../../values/value-store.js'
import type { Accumulator } from '../../accumulators/accumulator.js'
import type { DocumentExpression } from '../../expressions/compile.js'

export interface GroupField {
  readonly name: string
  readonly accumulator: string
  /** `n` depends on the group's `_id`. */
  readonly readsGroupKey: boolean
  readonly expression: DocumentExpression
  readonly create: (values: ValueStore, id: RawValue | undefined) => Accumulator
}

/**
 * The groups of a `$group`, by number. Each holds few objects, and no document unless an
 * accumulator keeps `n` values: a cursor keeps the groups until its last batch.
 */
export class Groups {
  readonly #fields: readonly GroupField[]
  readonly #numbers = new Map<string, number>()
  readonly #values = new ValueArena()
  /** Addresses. */
  readonly #ids: number[] = []
  /** Of all groups, one after the other. */
  readonly #accumulators: Accumulator[] = []

  constructor(fields: readonly GroupField[]) {
    this.#fields = fields
  }

  find(key: string): number | undefined {
    return this.#numbers.get(key)
  }

  add(key: string, id: RawValue): number {
    const group = this.#ids.length
    this.#numbers.set(key, group)
    this.#ids.push(this.#values.add(id))
    for (const field of this.#fields) this.#accumulators.push(field.create(this.#values, id))
    return group
  }

  accumulator(group: number, field: number): Accumulator {
    return this.#accumulators[group * this.#fields.length + field]!
  }

  /** Documents, in the order in which the groups were added. No group can be found afterwards. */
  *results(willBeMerged: boolean): Generator<Uint8Array, void> {
    this.#numbers.clear()
    for (const [group, id] of this.#ids.entries()) {
      const writer = new DocumentWriter().value('_id', this.#values.at(id))
      for (const [i, { name }] of this.#fields.entries()) {
        const accumulator = this.accumulator(group, i)
        writer.value(name, willBeMerged ? accumulator.partial() : accumulator.result())
      }
      yield writer.finish()
    }
  }
}
