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

function extreme(wanted: -1 | 1): (strings: StringComparator | undefined) => Accumulator {
  return (strings) => {
    let best: RawValue | undefined
    const add = (value: RawValue | undefined) => {
      if (value === undefined || value.isNullish()) return
      if (best === undefined || compareValues(value, best, strings) * wanted > 0) best = value
    }
    return { add, merge: add, partial: () => best ?? nullValue, result: () => best ?? nullValue }
  }
}

function first(): Accumulator {
  let seen = false
  let value: RawValue = nullValue
  const add = (next: RawValue | undefined) => {
    if (seen) return
    seen = true
    value = next ?? nullValue
  }
  return { add, merge: add, partial: () => value, result: () => value }
}

function last(): Accumulator {
  let value: RawValue = nullValue
  const add = (next: RawValue | undefined) => {
    value = next ?? nullValue
  }
  return { add, merge: add, partial: () => value, result: () => value }
}

function push(): Accumulator {
  const values: RawValue[] = []
  const held = new HeldBytes('$push')
  const add = (value: RawValue | undefined) => {
    if (value === undefined) return
    held.add(value)
    values.push(value)
  }
  return {
    add,
    held,
    merge: (partial) => elementsOf(partial).forEach(add),
    partial: () => arrayValue(values),
    result: () => arrayValue(values),
  }
}

function addToSet(strings: StringComparator | undefined): Accumulator {
  const keyOf = valueClasses(strings)
  const values = new Map<string, RawValue>()
  const held = new HeldBytes('$addToSet')
  const add = (value: RawValue | undefined) => {
    if (value === undefined) return
    const key = keyOf(value)
    if (values.has(key)) return
    held.add(value)
    values.set(key, value)
  }
  return {
    add,
    held,
    merge: (partial) => elementsOf(partial).forEach(add),
    partial: () => arrayValue(values.values()),
    result: () => arrayValue(values.values()),
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
  row('$min', extreme(-1)),
  row('$max', extreme(1)),
  row('$first', first),
  row('$last', last),
  row('$push', push),
  row('$addToSet', addToSet),
  row('$mergeObjects', mergeObjects),
]
