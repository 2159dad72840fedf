/** $push inserts, then sorts, then slices. */
import {
  BsonType,
  CommandError,
  elementsOf,
  FieldIterator,
  findField,
  firstFieldName,
  isEmptyDocument,
  typeName,
  compareValues,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { sortOrder } from '../../sort/sort-order.js'
import { parseSort } from '../../sort/sort-pattern.js'
import { exactInteger } from '../../values/arithmetic.js'
import { arrayValue, identical } from '../../values/build.js'
import { newestLanguage } from '../../language/language.js'
import { keepValue, modifier, type Leaf, type LeafContext } from '../modifier.js'

interface Clauses {
  each: readonly RawValue[]
  position: number | null
  slice: number | null
  sort: ((elements: RawValue[]) => void) | null
}

/** The server parses the clauses in this order. */
const clauseNames: ReadonlySet<string> = new Set(['$each', '$slice', '$sort', '$position'])

function parse(argument: RawValue, strings: StringComparator | undefined): Clauses {
  const clauses: Clauses = { each: [argument], position: null, slice: null, sort: null }
  if (argument.type !== BsonType.object || firstFieldName(argument.slice()) === undefined) return clauses
  if (findField(argument.bytes, '$each', argument.start) === undefined) return clauses
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (!clauseNames.has(name)) throw new CommandError('BadValue', `Unrecognized clause in $push: ${name}`)
    if (given.has(name)) throw new CommandError('BadValue', `Only one ${name} is supported.`)
    given.set(name, it.value())
  }
  for (const name of clauseNames) {
    const value = given.get(name)
    if (value === undefined) continue
    switch (name) {
      case '$each':
        if (value.type !== BsonType.array)
          throw new CommandError(
            'BadValue',
            `The argument to $each in $push must be an array but it was of type: ${typeName(value.type)}`,
          )
        clauses.each = elementsOf(value)
        break
      case '$position':
        clauses.position = integer(value, 'The value for $position must be an integer value, not of type: ')
        break
      case '$slice':
        clauses.slice = integer(value, 'The value for $slice must be an integer value but was given type: ')
        break
      case '$sort':
        clauses.sort = sorter(value, strings)
    }
  }
  return clauses
}

function integer(value: RawValue, complaint: string): number {
  const result = exactInteger(value)
  if (result === null) throw new CommandError('BadValue', complaint + typeName(value.type))
  return Number(result)
}

function sorter(value: RawValue, strings: StringComparator | undefined): (elements: RawValue[]) => void {
  if (value.isNumber()) {
    const direction = exactInteger(value)
    if (direction !== 1n && direction !== -1n)
      throw new CommandError('BadValue', 'The $sort element value must be either 1 or -1')
    const sign = Number(direction)
    return (elements) => elements.sort((a, b) => compareValues(a, b, strings) * sign)
  }
  if (value.type !== BsonType.object)
    throw new CommandError(
      'BadValue',
      'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields',
    )
  if (isEmptyDocument(value.bytes, value.start))
    throw new CommandError('BadValue', 'The $sort pattern is empty when it should be a set of fields.')
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) checkSortField(it.name(), it.value())
  const order = sortOrder(parseSort(value.slice()), strings)
  // An element that is not a document has none of the fields.
  const keyOf = (element: RawValue) => order.keyOf(element.type === BsonType.object ? element.slice() : emptyObject)
  return (elements) => {
    const keyed = elements
      .map((element) => ({ key: keyOf(element), element }))
      .sort((a, b) => order.compare(a.key, b.key))
    keyed.forEach(({ element }, index) => {
      elements[index] = element
    })
  }
}

function checkSortField(name: string, direction: RawValue): void {
  const exact = exactInteger(direction)
  if (exact !== 1n && exact !== -1n)
    throw new CommandError('BadValue', 'The $sort element value must be either 1 or -1')
  if (name === '') throw new CommandError('BadValue', 'The $sort field cannot be empty')
  if (name.split('.').includes(''))
    throw new CommandError('BadValue', `The $sort field is a dotted field but has an empty part: ${name}`)
}

const emptyObject = new Uint8Array([5, 0, 0, 0, 0])

export const pushModifier = modifier('$push', true, (_path, argument, { strings, language = newestLanguage }) => {
  const { each, position, slice, sort } = parse(argument, strings)
  if (position !== null && position < 0 && !language.has('form', 'negativePushPosition'))
    throw new CommandError('BadValue', 'The $position value in $push must be positive.')
  const apply: Leaf['apply'] = (existing, context) => {
    checkArray(existing, context)
    let elements = existing === undefined ? [] : elementsOf(existing)
    const length = elements.length
    const at =
      position === null || position > length ? length : position < 0 ? Math.max(0, length + position) : position
    elements.splice(at, 0, ...each)
    sort?.(elements)
    if (slice !== null) elements = slice === 0 ? [] : slice > 0 ? elements.slice(0, slice) : elements.slice(slice)
    const result = arrayValue(elements)
    return existing !== undefined && identical(result, existing) ? keepValue : result
  }
  return {
    apply,
    appendsTo: (length) => length > 0 && sort === null && slice === null && (position === null || position > length),
  }
})

export const pushAllModifier = modifier('$pushAll', true, (_path, argument) => {
  if (argument.type !== BsonType.array)
    throw new CommandError(
      'BadValue',
      `$pushAll requires an array of values but was given type: ${typeName(argument.type)}`,
    )
  const added = elementsOf(argument)
  return (existing, context) => {
    checkArray(existing, context)
    const result = arrayValue([...(existing === undefined ? [] : elementsOf(existing)), ...added])
    return existing !== undefined && identical(result, existing) ? keepValue : result
  }
})

function checkArray(existing: RawValue | undefined, context: LeafContext): void {
  if (existing === undefined || existing.type === BsonType.array) return
  throw new CommandError(
    'BadValue',
    `The field '${context.path}' must be an array but is of type ${typeName(existing.type)} in document {${context.documentId()}}`,
  )
}
