/**
 * One read serves many local documents; its results are assigned to them here, by the rules of the
 * read's filter. Server: `DocumentSourceLookUp::makeMatchStageFromInput`,
 * `document_path_support::visitAllValuesAtPath`.
 */
import {
  BsonType,
  DocumentWriter,
  elementsOf,
  encodeKeyString,
  findField,
  FieldIterator,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import type { EvaluationContext } from '../../../context.js'
import { compileFilter, type Filter } from '../../../filter/compile.js'
import { fieldPath, isDigits, type FieldPath } from '../../../path/field-path.js'
import { keyTuplesOf } from '../../../path/key-tuples.js'

/** Arrays are replaced by their elements; empty for a missing value. */
export function valuesAtPath(document: Uint8Array, names: readonly string[]): RawValue[] {
  const values: RawValue[] = []
  visit(document, 0, names, 0, values)
  return values
}

function visit(bytes: Uint8Array, start: number, names: readonly string[], at: number, values: RawValue[]): void {
  let value = findField(bytes, names[at]!, start)
  let next = at + 1
  // After an array, a number in the path is an index.
  while (value?.type === BsonType.array && next < names.length && isDigits(names[next]!)) {
    value = findField(value.bytes, String(Number(names[next]!)), value.start)
    next++
  }
  if (value === undefined) return
  if (next === names.length) {
    if (value.type === BsonType.array) for (const element of elementsOf(value)) values.push(element)
    else values.push(value)
  } else if (value.type === BsonType.object) visit(value.bytes, value.start, names, next, values)
  else if (value.type === BsonType.array)
    for (const it = new FieldIterator(value.bytes, value.start); it.next();)
      if (it.type === BsonType.object) visit(it.bytes, it.valueStart, names, next, values)
}

/** A missing value counts as null. */
export function localValues(document: Uint8Array, names: readonly string[]): readonly RawValue[] {
  const values = valuesAtPath(document, names)
  return values.length === 0 ? [nullValue] : values
}

export function matchAnyOf(field: string, values: readonly RawValue[]): Uint8Array {
  const writer = new DocumentWriter().startDocument('$match')
  if (values.length === 1) writer.startDocument(field).value('$eq', values[0]!).end()
  else {
    // In $in a regular expression is a pattern; here it must match as a value.
    const expressions = values.filter((value) => value.type === BsonType.regex)
    const plain = values.filter((value) => value.type !== BsonType.regex)
    if (expressions.length > 0) writer.startArray('$or')
    let branch = 0
    if (plain.length > 0) {
      if (expressions.length > 0) writer.startDocument(String(branch++))
      writer.startDocument(field).startArray('$in')
      plain.forEach((value, i) => writer.value(String(i), value))
      writer.end().end()
      if (expressions.length > 0) writer.end()
    }
    for (const value of expressions)
      writer.startDocument(String(branch++)).startDocument(field).value('$eq', value).end().end()
    if (expressions.length > 0) writer.end()
  }
  return writer.end().finish()
}

export class ForeignDocuments {
  readonly #documents: readonly Uint8Array[]
  readonly #field: string
  readonly #context: EvaluationContext
  readonly #filters = new Map<string, Filter>()
  /**
   * Indexes in `documents` by the KeyString of a value; null: equal values may have different keys.
   */
  readonly #places: ReadonlyMap<string, readonly number[]> | null

  constructor(documents: readonly Uint8Array[], field: string, context: EvaluationContext) {
    this.#documents = documents
    this.#field = field
    this.#context = context
    const path = fieldPath(field)
    // Under a collation equal strings have several keys; a number in a path may be an index or a
    // field name.
    const keyed = context.strings === undefined && !path.parts.some((part) => part.isIndex)
    this.#places = keyed ? placesByKey(documents, path) : null
  }

  /** In the order in which the documents were read. */
  matching(values: readonly RawValue[]): Uint8Array[] {
    const places = new Set<number>()
    for (const value of values) for (const place of this.#placesOf(value)) places.add(place)
    return [...places].sort((a, b) => a - b).map((place) => this.#documents[place]!)
  }

  #placesOf(value: RawValue): readonly number[] {
    const key = `${value.type === BsonType.regex ? 'r' : ''}${encodeKeyString([value])}`
    if (this.#places !== null && isKeyed(value)) return this.#places.get(key) ?? []
    let filter = this.#filters.get(key)
    if (filter === undefined) {
      const document = new DocumentWriter().startDocument(this.#field).value('$eq', value).end().finish()
      filter = compileFilter(document, this.#context)
      this.#filters.set(key, filter)
    }
    const compiled = filter
    return this.#documents.flatMap((document, place) => (compiled.matches(document) ? [place] : []))
  }
}

/**
 * Whether equality with this value matches exactly the documents that have it among their index
 * keys.
 */
function isKeyed({ type }: RawValue): boolean {
  return type !== BsonType.null && type !== BsonType.undefined && type !== BsonType.array && type !== BsonType.regex
}

function placesByKey(documents: readonly Uint8Array[], path: FieldPath): Map<string, number[]> {
  const places = new Map<string, number[]>()
  documents.forEach((document, place) => {
    for (const [value] of keyTuplesOf(document, [path])) {
      const key = encodeKeyString([value ?? nullValue])
      const known = places.get(key)
      if (known === undefined) places.set(key, [place])
      else if (known.at(-1) !== place) known.push(place)
    }
  })
  return places
}
