/**
 * `n` is evaluated once for each group, on its `_id`. A partial result contains `n` and the order:
 * the merger needs no specification. Server: `accumulator_multi.cpp`.
 */
import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  documentValue,
  elementsOf,
  FieldIterator,
  findField,
  int32Value,
  nullValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { compareTuples, parseSort, sortKeyValues, type SortPattern } from '../../sort/sort-pattern.js'
import { arrayValue } from '../../values/build.js'
import { formatField } from '../../values/format.js'
import { countNamed, countOperand } from '../expressions/operators/arrays/order.js'
import { HeldBytes, type Accumulator, type AccumulatorOperator } from './accumulator.js'
import { Bounded } from './bounded.js'

const field = (document: RawValue, name: string) => findField(document.bytes, name, document.start)

function inOrder(name: string, isFirst: boolean, n: number): Accumulator {
  let limit = n
  let values: RawValue[] = []
  const held = new HeldBytes(name)
  const add = (value: RawValue | undefined) => {
    if (isFirst && values.length === limit) return
    if (values.length >= limit) held.remove(values.at(-limit)!)
    held.add(value ?? nullValue)
    values.push(value ?? nullValue)
    if (values.length >= 2 * limit + 32) values = values.slice(-limit)
  }
  const kept = () => (isFirst ? values : values.slice(-limit))
  return {
    add,
    get heldBytes() {
      return held.bytes
    },
    merge(partial) {
      limit = Number(field(partial, 'n')!.asBigInt())
      for (const value of elementsOf(field(partial, 'values')!)) add(value)
    },
    partial: () => documentValue(new DocumentWriter().int64('n', limit).value('values', arrayValue(kept())).finish()),
    result: () => arrayValue(kept()),
  }
}

/** The least n values, ascending, or the greatest n, descending; null and missing are ignored. */
function extremes(name: string, isLeast: boolean, n: number, strings: StringComparator | undefined): Accumulator {
  const best = new Bounded<RawValue>(n, (a, b) => compareValues(a, b, strings), isLeast ? 'greatest' : 'least')
  const held = new HeldBytes(name)
  const add = (value: RawValue | undefined) => {
    if (value === undefined || value.isNullish()) return
    const dropped = best.add(value)
    if (dropped === value) return
    if (dropped !== null) held.remove(dropped)
    held.add(value)
  }
  const values = () => arrayValue(isLeast ? best.entries : best.entries.toReversed())
  return {
    add,
    get heldBytes() {
      return held.bytes
    },
    merge(partial) {
      best.n = Number(field(partial, 'n')!.asBigInt())
      for (const value of elementsOf(field(partial, 'values')!)) add(value)
    },
    partial: () => documentValue(new DocumentWriter().int64('n', best.n).value('values', values()).finish()),
    result: values,
  }
}

function checkCount(name: string, notObject: number, argument: RawValue): RawValue {
  if (argument.type !== BsonType.object)
    throw new CommandError(notObject, `specification must be an object; found ${formatField(name, argument)}`)
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() !== 'n' && it.name() !== 'input') throw countNamed.unknown(it.name())
    given.set(it.name(), it.value())
  }
  if (!given.has('n')) throw new CommandError(...countNamed.required.n)
  const input = given.get('input')
  if (input === undefined) throw new CommandError(...countNamed.required.input)
  return input
}

const countOf = (argument: RawValue) => field(argument, 'n')

function nValues(
  name: string,
  notObject: number,
  make: (n: number, strings: StringComparator | undefined) => Accumulator,
): AccumulatorOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    create: (_values, strings, setting) => make(setting === undefined ? 0 : countOperand(setting.n), strings),
    evaluatedOf: (argument) => checkCount(name, notObject, argument),
    countOf,
  }
}

interface SortedEntry {
  readonly key: readonly (RawValue | undefined)[]
  readonly value: RawValue
}

function valuesOf({ key, value }: SortedEntry): RawValue[] {
  return [...key.map((part) => part ?? nullValue), value]
}

function readEntry(stored: RawValue): SortedEntry {
  return { key: elementsOf(field(stored, 'key')!), value: field(stored, 'value')! }
}

function storeEntry({ key, value }: SortedEntry): RawValue {
  return documentValue(
    new DocumentWriter()
      .value('key', arrayValue(key.map((part) => part ?? nullValue)))
      .value('value', value)
      .finish(),
  )
}

function ordered(
  name: string,
  isSingle: boolean,
  isTop: boolean,
  n: number,
  strings: StringComparator | undefined,
  given: RawValue | undefined,
): Accumulator {
  let sortBy = given
  let pattern: SortPattern | undefined = sortBy === undefined ? undefined : parseSort(sortBy.slice())
  const best = new Bounded<SortedEntry>(
    n,
    (a, b) => compareTuples(a.key, b.key, pattern!.descending, strings),
    isTop ? 'greatest' : 'least',
  )
  const held = new HeldBytes(name)
  const keep = (entry: SortedEntry) => {
    const dropped = best.add(entry)
    if (dropped === entry) return
    if (dropped !== null) for (const value of valuesOf(dropped)) held.remove(value)
    for (const value of valuesOf(entry)) held.add(value)
  }
  return {
    get heldBytes() {
      return held.bytes
    },
    add(evaluated) {
      const key = sortKeyValues(field(evaluated!, 'document')!.slice(), pattern!, strings)
      keep({ key, value: field(evaluated!, 'output') ?? nullValue })
    },
    merge(partial) {
      best.n = Number(field(partial, 'n')!.asBigInt())
      sortBy ??= field(partial, 'sortBy')!
      pattern ??= parseSort(sortBy.slice())
      for (const stored of elementsOf(field(partial, 'entries')!)) keep(readEntry(stored))
    },
    partial: () =>
      documentValue(
        new DocumentWriter()
          .int64('n', best.n)
          .value('sortBy', sortBy!)
          .value('entries', arrayValue(best.entries.map(storeEntry)))
          .finish(),
      ),
    result() {
      const values = best.entries.map((entry) => entry.value)
      return isSingle ? (values[0] ?? nullValue) : arrayValue(values)
    },
  }
}

/** Returns the expression to evaluate for each document. */
function sortedArgument(name: string, isSingle: boolean, argument: RawValue): RawValue {
  if (argument.type !== BsonType.object)
    throw new CommandError(5788001, `specification must be an object; found ${formatField(name, argument)}`)
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const option = it.name()
    if (!(['output', 'sortBy'].includes(option) || (option === 'n' && !isSingle)))
      throw new CommandError(5788002, `Unknown argument to ${name} '${option}'`)
    const value = it.value()
    if (option === 'sortBy' && value.type !== BsonType.object)
      throw new CommandError(10065, 'invalid parameter: expected an object (sortBy)')
    given.set(option, value)
  }
  if (!isSingle && !given.has('n')) throw new CommandError(5788003, "Missing value for 'n'")
  const output = given.get('output')
  if (output === undefined) throw new CommandError(5788004, "Missing value for 'output'")
  const sortBy = given.get('sortBy')
  if (sortBy === undefined) throw new CommandError(5788005, "Missing value for 'sortBy'")
  parseSort(sortBy.slice())
  return documentValue(new DocumentWriter().value('output', output).string('document', '$$ROOT').finish())
}

function sorting(name: string, isSingle: boolean, isTop: boolean): AccumulatorOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    create(_values, strings, setting) {
      const n = setting === undefined ? 0 : isSingle ? 1 : countOperand(setting.n)
      return ordered(
        name,
        isSingle,
        isTop,
        n,
        strings,
        setting === undefined ? undefined : field(setting.argument, 'sortBy'),
      )
    },
    evaluatedOf: (argument) => sortedArgument(name, isSingle, argument),
    countOf: (argument) => (isSingle ? int32Value(1) : countOf(argument)),
  }
}

export const topNAccumulators: readonly AccumulatorOperator[] = [
  nValues('$firstN', 5787801, (n) => inOrder('$firstN', true, n)),
  nValues('$lastN', 5787801, (n) => inOrder('$lastN', false, n)),
  nValues('$minN', 5787900, (n, strings) => extremes('$minN', true, n, strings)),
  nValues('$maxN', 5787900, (n, strings) => extremes('$maxN', false, n, strings)),
  sorting('$top', true, true),
  sorting('$topN', false, true),
  sorting('$bottom', true, false),
  sorting('$bottomN', false, false),
]
