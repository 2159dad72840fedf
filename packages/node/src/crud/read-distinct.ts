/**
 * What a distinct asks for and how its values are collected. Manual: reference/command/distinct. Server: distinct.cpp,
 * canonical_distinct.cpp, dotted_path_support (extractAllElementsAlongPath).
 */
import type { CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareValues,
  emptyDocument,
  encodeKeyString,
  FieldIterator,
  findField,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { compileFilter, type EvaluationContext, type Filter } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import { planDistinct, type Collection, type QueryPlan } from '@shardlab/storage'
import { hintOf } from './hint.js'

/** Arguments of distinct, as the command table checks them. */
export const distinctFields = { key: 'string!', query: 'object', collation: 'object', hint: 'any' } as const

export interface DistinctQuery {
  readonly key: string
  readonly filter: Filter
  readonly hint: { readonly hint?: string | Uint8Array }
  readonly context: EvaluationContext
}

/** @throws CommandError 31032, 40415 for a hint before 7.1, and what filters and hints are refused with */
export function compileDistinct(
  args: CommandArguments,
  context: EvaluationContext,
  { distinctTakesHint }: Behaviours,
): DistinctQuery {
  const key = args.string('key')!
  if (key.includes('\0')) throw new CommandError(31032, 'Key field cannot contain an embedded null byte')
  if (args.has('hint') && !distinctTakesHint)
    throw new CommandError(40415, "BSON field 'distinct.hint' is an unknown field.")
  return { key, filter: compileFilter(args.document('query') ?? emptyDocument, context), hint: hintOf(args), context }
}

/** Documents that have every value; as on the server what the shard does not own is not left out. @throws CommandError as the planner refuses hints */
export function planDistinctRows(
  collection: Collection,
  { key, filter, hint, context: { strings } }: DistinctQuery,
): QueryPlan {
  return planDistinct(collection, { key, filter, ...hint, ...(strings === undefined ? {} : { strings }) })
}

/** The values that may be answered: 16 MiB less what a reply has around them. */
const valuesBytesMax = 16 * 1024 * 1024 - 4096

/** Values, each once under a collation, in the order of values; of equal ones the first stays. */
export class DistinctValues {
  readonly #byKey = new Map<string, RawValue>()
  readonly #strings: StringComparator | undefined
  #bytes = 0

  constructor(strings: StringComparator | undefined) {
    this.#strings = strings
  }

  /** @throws CommandError 17217 when there are too many */
  add(value: RawValue): void {
    const key = encodeKeyString([value], [false])
    if (this.#byKey.has(key)) return
    this.#byKey.set(key, value)
    this.#bytes += value.end - value.start + 2
    if (this.#bytes >= valuesBytesMax) throw new CommandError(17217, 'distinct too big, 16mb cap')
  }

  sorted(): RawValue[] {
    const strings = this.#strings
    if (strings === undefined) {
      return [...this.#byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
    }
    const values = [...this.#byKey.values()].sort((a, b) => compareValues(a, b, strings))
    return values.filter((value, i) => i === 0 || compareValues(value, values[i - 1], strings) !== 0)
  }
}

/**
 * Every value at a dotted path: arrays on the way are entered, a numeric component names an element of one, an array at
 * the end gives its elements, a missing value nothing. A field whose own name holds the dots goes before the path.
 */
export function forEachValueAt(bytes: Uint8Array, start: number, path: string, visit: (value: RawValue) => void): void {
  const whole = findField(bytes, path, start)
  if (whole !== undefined) {
    if (whole.type !== BsonType.array) visit(whole)
    else for (const it = new FieldIterator(whole.bytes, whole.start); it.next();) visit(it.value())
    return
  }
  const dot = path.indexOf('.')
  if (dot < 0) return
  const value = findField(bytes, path.slice(0, dot), start)
  const rest = path.slice(dot + 1)
  if (value?.type === BsonType.object) forEachValueAt(value.bytes, value.start, rest, visit)
  else if (value?.type === BsonType.array) {
    if (/^[0-9]+(\.|$)/.test(rest)) forEachValueAt(value.bytes, value.start, rest, visit)
    else {
      for (const it = new FieldIterator(value.bytes, value.start); it.next();)
        if (it.type === BsonType.object || it.type === BsonType.array)
          forEachValueAt(it.bytes, it.valueStart, rest, visit)
    }
  }
}
