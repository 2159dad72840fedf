/** $push with $each, $position, $sort, $slice: inserted, then sorted, then cut. */
import {
  BsonType,
  CommandError,
  elementsOf,
  FieldIterator,
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
import { keepValue, modifier } from '../modifier.js'

interface Clauses {
  each: readonly RawValue[]
  position: number | null
  slice: number | null
  sort: ((elements: RawValue[]) => void) | null
}

function parse(argument: RawValue, strings: StringComparator | undefined): Clauses {
  const clauses: Clauses = { each: [argument], position: null, slice: null, sort: null }
  if (argument.type !== BsonType.object || firstFieldName(argument.slice()) === undefined) return clauses
  let hasEach = false
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) if (it.name() === '$each') hasEach = true
  if (!hasEach) return clauses
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    switch (it.name()) {
      case '$each':
        if (value.type !== BsonType.array)
          throw new CommandError('BadValue', `The argument to $each in $push must be an array but it was of type: ${typeName(value.type)}`)
        clauses.each = elementsOf(value)
        break
      case '$position':
        clauses.position = integer(value, 'The value for $position must be an integer value')
        break
      case '$slice':
        clauses.slice = integer(value, 'The value for $slice must be an integer value')
        break
      case '$sort':
        clauses.sort = sorter(value, strings)
        break
      default:
        throw new CommandError('BadValue', `Unrecognized clause in $push: ${it.name()}`)
    }
  }
  return clauses
}

function integer(value: RawValue, complaint: string): number {
  const result = exactInteger(value)
  if (result === null) throw new CommandError('BadValue', `${complaint} but was given type: ${typeName(value.type)}`)
  return Number(result)
}

function sorter(value: RawValue, strings: StringComparator | undefined): (elements: RawValue[]) => void {
  if (value.isNumber()) {
    const direction = exactInteger(value)
    if (direction !== 1n && direction !== -1n) throw new CommandError('BadValue', 'The $sort element value must be either 1 or -1')
    const sign = Number(direction)
    return (elements) => elements.sort((a, b) => compareValues(a, b, strings) * sign)
  }
  if (value.type !== BsonType.object)
    throw new CommandError('BadValue', 'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields')
  if (isEmptyDocument(value.bytes, value.start))
    throw new CommandError('BadValue', 'The $sort pattern is empty when it should be a set of fields.')
  const order = sortOrder(parseSort(value.slice()), strings)
  // An element that is no document has none of the fields.
  const keyOf = (element: RawValue) => order.keyOf(element.type === BsonType.object ? element.slice() : emptyObject)
  return (elements) => {
    const keyed = elements.map((element) => ({ key: keyOf(element), element })).sort((a, b) => order.compare(a.key, b.key))
    keyed.forEach(({ element }, index) => {
      elements[index] = element
    })
  }
}

const emptyObject = new Uint8Array([5, 0, 0, 0, 0])

export const pushModifier = modifier('$push', true, (_path, argument, { strings }) => {
  const { each, position, slice, sort } = parse(argument, strings)
  return (existing, context) => {
    if (existing !== undefined && existing.type !== BsonType.array) {
      throw new CommandError(
        'BadValue',
        `The field '${context.path}' must be an array but is of type ${typeName(existing.type)} in document ${context.describeDocument()}`,
      )
    }
    let elements = existing === undefined ? [] : elementsOf(existing)
    const length = elements.length
    const at = position === null || position > length ? length : position < 0 ? Math.max(0, length + position) : position
    elements.splice(at, 0, ...each)
    sort?.(elements)
    if (slice !== null) elements = slice === 0 ? [] : slice > 0 ? elements.slice(0, slice) : elements.slice(slice)
    const result = arrayValue(elements)
    return existing !== undefined && identical(result, existing) ? keepValue : result
  }
})
