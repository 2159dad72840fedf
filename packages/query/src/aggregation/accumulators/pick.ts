import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  documentValue,
  elementsOf,
  FieldIterator,
  nullValue,
  typeName,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { arrayValue } from '../../values/build.js'
import type { ValueStore } from '../../values/value-store.js'
import { valueClasses } from '../../values/value-classes.js'
import { heldWith, oneExpression, type Accumulator, type AccumulatorOperator } from './accumulator.js'

// Classes, not closures: a $group has an accumulator for each field of each group.

class Extreme implements Accumulator {
  readonly #values: ValueStore
  readonly #wanted: -1 | 1
  readonly #strings: StringComparator | undefined
  #best: number | null = null

  constructor(values: ValueStore, wanted: -1 | 1, strings: StringComparator | undefined) {
    this.#values = values
    this.#wanted = wanted
    this.#strings = strings
  }

  add(value: RawValue | undefined): void {
    if (value === undefined || value.isNullish()) return
    if (this.#best === null) this.#best = this.#values.add(value)
    else if (compareValues(value, this.#values.at(this.#best), this.#strings) * this.#wanted > 0)
      this.#best = this.#values.replace(this.#best, value)
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return this.#best === null ? nullValue : this.#values.at(this.#best)
  }
}

class First implements Accumulator {
  readonly #values: ValueStore
  #first: number | null = null

  constructor(values: ValueStore) {
    this.#values = values
  }

  add(value: RawValue | undefined): void {
    this.#first ??= this.#values.add(value ?? nullValue)
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return this.#first === null ? nullValue : this.#values.at(this.#first)
  }
}

class Last implements Accumulator {
  readonly #values: ValueStore
  #last: number | null = null

  constructor(values: ValueStore) {
    this.#values = values
  }

  add(value: RawValue | undefined): void {
    const last = value ?? nullValue
    this.#last = this.#last === null ? this.#values.add(last) : this.#values.replace(this.#last, last)
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return this.#last === null ? nullValue : this.#values.at(this.#last)
  }
}

class Push implements Accumulator {
  heldBytes = 0
  readonly #values: ValueStore
  #first: number | null = null
  #last = 0

  constructor(values: ValueStore) {
    this.#values = values
  }

  add(value: RawValue | undefined): void {
    if (value === undefined) return
    this.heldBytes = heldWith('$push', this.heldBytes, value)
    if (this.#first === null) this.#first = this.#last = this.#values.add(value)
    else this.#last = this.#values.addAfter(this.#last, value)
  }

  merge(partial: RawValue): void {
    for (const value of elementsOf(partial)) this.add(value)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return arrayValue(this.#first === null ? [] : this.#values.from(this.#first))
  }
}

class AddToSet implements Accumulator {
  heldBytes = 0
  readonly #values: ValueStore
  readonly #keyOf: (value: RawValue) => string
  readonly #addresses = new Map<string, number>()

  constructor(values: ValueStore, strings: StringComparator | undefined) {
    this.#values = values
    this.#keyOf = valueClasses(strings)
  }

  add(value: RawValue | undefined): void {
    if (value === undefined) return
    const key = this.#keyOf(value)
    if (this.#addresses.has(key)) return
    this.heldBytes = heldWith('$addToSet', this.heldBytes, value)
    this.#addresses.set(key, this.#values.add(value))
  }

  merge(partial: RawValue): void {
    for (const value of elementsOf(partial)) this.add(value)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return arrayValue(Array.from(this.#addresses.values(), (address) => this.#values.at(address)))
  }
}

class MergeObjects implements Accumulator {
  readonly #values: ValueStore
  readonly #addresses = new Map<string, number>()

  constructor(values: ValueStore) {
    this.#values = values
  }

  add(value: RawValue | undefined): void {
    if (value === undefined || value.isNullish()) return
    if (value.type !== BsonType.object)
      throw new CommandError(
        40400,
        `$mergeObjects requires object inputs, but input is of type ${typeName(value.type)}`,
      )
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
      const [name, field] = [it.name(), it.value()]
      const address = this.#addresses.get(name)
      this.#addresses.set(name, address === undefined ? this.#values.add(field) : this.#values.replace(address, field))
    }
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    const writer = new DocumentWriter()
    for (const [name, address] of this.#addresses) writer.value(name, this.#values.at(address))
    return documentValue(writer.finish())
  }
}

function row(name: string, create: AccumulatorOperator['create']): AccumulatorOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    create,
    evaluatedOf: oneExpression(name),
  }
}

export const pickAccumulators: readonly AccumulatorOperator[] = [
  row('$min', (values, strings) => new Extreme(values, -1, strings)),
  row('$max', (values, strings) => new Extreme(values, 1, strings)),
  row('$first', (values) => new First(values)),
  row('$last', (values) => new Last(values)),
  row('$push', (values) => new Push(values)),
  row('$addToSet', (values, strings) => new AddToSet(values, strings)),
  row('$mergeObjects', (values) => new MergeObjects(values)),
]
