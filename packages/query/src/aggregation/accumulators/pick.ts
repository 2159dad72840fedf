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
import { valueClasses } from '../../values/value-classes.js'
import { HeldBytes, oneExpression, type Accumulator, type AccumulatorOperator } from './accumulator.js'

// Classes, not closures: a $group has an accumulator for each field of each group.

class Extreme implements Accumulator {
  readonly #wanted: -1 | 1
  readonly #strings: StringComparator | undefined
  #best: RawValue | undefined

  constructor(wanted: -1 | 1, strings: StringComparator | undefined) {
    this.#wanted = wanted
    this.#strings = strings
  }

  add(value: RawValue | undefined): void {
    if (value === undefined || value.isNullish()) return
    if (this.#best === undefined || compareValues(value, this.#best, this.#strings) * this.#wanted > 0)
      this.#best = value
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return this.#best ?? nullValue
  }
}

class First implements Accumulator {
  #value: RawValue | null = null

  add(value: RawValue | undefined): void {
    this.#value ??= value ?? nullValue
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return this.#value ?? nullValue
  }
}

class Last implements Accumulator {
  #value = nullValue

  add(value: RawValue | undefined): void {
    this.#value = value ?? nullValue
  }

  merge(partial: RawValue): void {
    this.add(partial)
  }

  partial(): RawValue {
    return this.#value
  }

  result(): RawValue {
    return this.#value
  }
}

class Push implements Accumulator {
  readonly held = new HeldBytes('$push')
  readonly #values: RawValue[] = []

  add(value: RawValue | undefined): void {
    if (value === undefined) return
    this.held.add(value)
    this.#values.push(value)
  }

  merge(partial: RawValue): void {
    for (const value of elementsOf(partial)) this.add(value)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return arrayValue(this.#values)
  }
}

class AddToSet implements Accumulator {
  readonly held = new HeldBytes('$addToSet')
  readonly #keyOf: (value: RawValue) => string
  readonly #values = new Map<string, RawValue>()

  constructor(strings: StringComparator | undefined) {
    this.#keyOf = valueClasses(strings)
  }

  add(value: RawValue | undefined): void {
    if (value === undefined) return
    const key = this.#keyOf(value)
    if (this.#values.has(key)) return
    this.held.add(value)
    this.#values.set(key, value)
  }

  merge(partial: RawValue): void {
    for (const value of elementsOf(partial)) this.add(value)
  }

  partial(): RawValue {
    return this.result()
  }

  result(): RawValue {
    return arrayValue(this.#values.values())
  }
}

function mergeObjects(): Accumulator {
  const fields = new Map<string, RawValue>()
  const add = (value: RawValue | undefined) => {
    if (value === undefined || value.isNullish()) return
    if (value.type !== BsonType.object)
      throw new CommandError(
        40400,
        `$mergeObjects requires object inputs, but input is of type ${typeName(value.type)}`,
      )
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.set(it.name(), it.value())
  }
  const result = () => {
    const writer = new DocumentWriter()
    for (const [name, value] of fields) writer.value(name, value)
    return documentValue(writer.finish())
  }
  return { add, merge: add, partial: result, result }
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
  row('$min', (strings) => new Extreme(-1, strings)),
  row('$max', (strings) => new Extreme(1, strings)),
  row('$first', () => new First()),
  row('$last', () => new Last()),
  row('$push', () => new Push()),
  row('$addToSet', (strings) => new AddToSet(strings)),
  row('$mergeObjects', mergeObjects),
]
