/** $min, $max, $first, $last, $push, $addToSet, $mergeObjects. */
import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  documentValue,
  elementsOf,
  encodeKeyString,
  FieldIterator,
  nullValue,
  typeName,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { arrayValue } from '../../values/build.js'
import type { Accumulator, AccumulatorOperator } from './accumulator.js'

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
  return {
    add(value) {
      if (value !== undefined) values.push(value)
    },
    merge(partial) {
      values.push(...elementsOf(partial))
    },
    partial: () => arrayValue(values),
    result: () => arrayValue(values),
  }
}

function addToSet(): Accumulator {
  const values = new Map<string, RawValue>()
  const add = (value: RawValue | undefined) => {
    if (value === undefined) return
    const key = encodeKeyString([value])
    if (!values.has(key)) values.set(key, value)
  }
  return {
    add,
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
      throw new CommandError(40400, `$mergeObjects requires object inputs, but input is of type ${typeName(value.type)}`)
    for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.set(it.name(), it.value())
  }
  const result = () => {
    const writer = new DocumentWriter()
    for (const [name, value] of fields) writer.value(name, value)
    return documentValue(writer.finish())
  }
  return { add, merge: add, partial: result, result }
}

export const pickAccumulators: readonly AccumulatorOperator[] = [
  { name: '$min', manualPage: 'aggregation/min', status: 'complete', create: extreme(-1) },
  { name: '$max', manualPage: 'aggregation/max', status: 'complete', create: extreme(1) },
  { name: '$first', manualPage: 'aggregation/first', status: 'complete', create: first },
  { name: '$last', manualPage: 'aggregation/last', status: 'complete', create: last },
  { name: '$push', manualPage: 'aggregation/push', status: 'complete', create: push },
  {
    name: '$addToSet',
    manualPage: 'aggregation/addToSet',
    status: 'partial',
    note: 'equality by bytes, without the collation',
    create: addToSet,
  },
  { name: '$mergeObjects', manualPage: 'aggregation/mergeObjects', status: 'complete', create: mergeObjects },
]
