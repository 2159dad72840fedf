/**
 * $firstN, $lastN, $minN, $maxN, $top, $topN, $bottom, $bottomN. What is evaluated for a document is an object with `n`, `input` or
 * `output` and, for the sorting ones, the document itself; a partial result carries `n` too, so that the merger needs no specification.
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
  stringValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { parseSort, sortKeyOf } from '../../sort/sort-pattern.js'
import { arrayValue } from '../../values/build.js'
import { formatField } from '../../values/format.js'
import { countNamed, countOperand } from '../expressions/operators/array-more.js'
import type { Accumulator, AccumulatorOperator } from './accumulator.js'

const field = (document: RawValue, name: string) => findField(document.bytes, name, document.start)

/** Keeps some of the values that it is given, in order. */
type Keep<Entry> = (entries: Entry[], n: number) => Entry[]

interface Codec<Entry> {
  /** The entry of one document; null for one that does not count. */
  entryOf(evaluated: RawValue): Entry | null
  read(stored: RawValue): Entry
  store(entry: Entry): RawValue
  valueOf(entry: Entry): RawValue
}

function keeping<Entry>(codec: Codec<Entry>, keep: Keep<Entry>, isSingle: boolean): Accumulator {
  let n = 0
  let entries: Entry[] = []
  const trim = () => {
    // Not at every document: sorting each time would cost more than it saves.
    if (entries.length > 2 * n + 32) entries = keep(entries, n)
  }
  const result = () => keep(entries, n)
  return {
    add(evaluated) {
      if (evaluated === undefined) return
      if (n === 0) n = isSingle ? 1 : countOperand(field(evaluated, 'n'))
      const entry = codec.entryOf(evaluated)
      if (entry !== null) entries.push(entry)
      trim()
    },
    merge(partial) {
      n = Number(field(partial, 'n')!.asBigInt())
      for (const stored of elementsOf(field(partial, 'entries')!)) entries.push(codec.read(stored))
      trim()
    },
    partial: () =>
      documentValue(
        new DocumentWriter()
          .int64('n', n)
          .value('entries', arrayValue(result().map((entry) => codec.store(entry))))
          .finish(),
      ),
    result() {
      const values = result().map((entry) => codec.valueOf(entry))
      return isSingle ? (values[0] ?? nullValue) : arrayValue(values)
    },
  }
}

function plain(skipsNullish: boolean): Codec<RawValue> {
  const same = (value: RawValue) => value
  return {
    entryOf(evaluated) {
      const input = field(evaluated, 'input')
      return skipsNullish && (input === undefined || input.isNullish()) ? null : (input ?? nullValue)
    },
    read: same,
    store: same,
    valueOf: same,
  }
}

function checkCount(argument: RawValue): RawValue {
  if (argument.type !== BsonType.object) throw countNamed.notObject(String(argument.type))
  const given = new Set<string>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() !== 'n' && it.name() !== 'input') throw countNamed.unknown(it.name())
    given.add(it.name())
  }
  if (!given.has('n')) throw new CommandError(...countNamed.required.n)
  if (!given.has('input')) throw new CommandError(...countNamed.required.input)
  return argument
}

function several(
  name: string,
  skipsNullish: boolean,
  keepFor: (strings: StringComparator | undefined) => Keep<RawValue>,
): AccumulatorOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'partial',
    note: 'n is read from the first document of a group and may not depend on it',
    create: (strings) => keeping(plain(skipsNullish), keepFor(strings), false),
    replaceArgument: checkCount,
  }
}

interface SortedEntry {
  readonly key: string
  readonly value: RawValue
}

function sorted(sortBy: RawValue | undefined): Codec<SortedEntry> {
  const pattern = sortBy === undefined ? null : parseSort(sortBy.slice())
  return {
    entryOf: (evaluated) => ({
      key: sortKeyOf(field(evaluated, 'document')!.slice(), pattern!),
      value: field(evaluated, 'output') ?? nullValue,
    }),
    read: (stored) => ({ key: field(stored, 'key')!.asString(), value: field(stored, 'value')! }),
    store: ({ key, value }) => documentValue(new DocumentWriter().value('key', stringValue(key)).value('value', value).finish()),
    valueOf: ({ value }) => value,
  }
}

const byKey = (a: SortedEntry, b: SortedEntry) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

/** `{n, output, sortBy}` to what is evaluated for a document. */
function sortedArgument(name: string, isSingle: boolean, argument: RawValue): RawValue {
  if (argument.type !== BsonType.object)
    throw new CommandError(5788001, `specification must be an object; found ${formatField(name, argument)}`)
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const option = it.name()
    if (!(['output', 'sortBy'].includes(option) || (option === 'n' && !isSingle)))
      throw new CommandError(5788002, `Unknown argument to ${name} '${option}'`)
    given.set(option, it.value())
  }
  if (!isSingle && !given.has('n')) throw new CommandError(5788003, "Missing value for 'n'")
  if (!given.has('output')) throw new CommandError(5788004, "Missing value for 'output'")
  const sortBy = given.get('sortBy')
  if (sortBy === undefined) throw new CommandError(5788005, "Missing value for 'sortBy'")
  if (sortBy.type !== BsonType.object) throw new CommandError(10065, `invalid parameter: expected an object (sortBy)`)
  parseSort(sortBy.slice())
  return documentValue(
    new DocumentWriter()
      .value('n', given.get('n') ?? int32Value(1))
      .value('output', given.get('output')!)
      .string('document', '$$ROOT')
      .finish(),
  )
}

function sorting(name: string, isSingle: boolean, isTop: boolean): AccumulatorOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'partial',
    note: 'orders by bytes, without the collation; n is read from the first document of a group',
    create(_strings, argument) {
      const sortBy = argument?.type === BsonType.object ? field(argument, 'sortBy') : undefined
      return keeping(
        sorted(sortBy),
        (entries, n) => {
          const ordered = entries.toSorted(byKey)
          return isTop ? ordered.slice(0, n) : ordered.slice(-n)
        },
        isSingle,
      )
    },
    replaceArgument: (argument) => sortedArgument(name, isSingle, argument),
  }
}

const extreme =
  (direction: 1 | -1) =>
  (strings: StringComparator | undefined): Keep<RawValue> =>
  (entries, n) =>
    entries.toSorted((a, b) => compareValues(a, b, strings) * direction).slice(0, n)

export const severalAccumulators: readonly AccumulatorOperator[] = [
  several('$firstN', false, () => (entries, n) => entries.slice(0, n)),
  several('$lastN', false, () => (entries, n) => entries.slice(-n)),
  several('$minN', true, extreme(1)),
  several('$maxN', true, extreme(-1)),
  sorting('$top', true, true),
  sorting('$topN', false, true),
  sorting('$bottom', true, false),
  sorting('$bottomN', false, false),
]
