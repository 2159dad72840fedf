import {
  BsonType,
  CommandError,
  DocumentWriter,
  compareValues,
  elementsOf,
  FieldIterator,
  firstFieldName,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { compileFilter } from '../../filter/compile.js'
import { noFilterFeatures } from '../../filter/features.js'
import { pathOperators } from '../../filter/operators/table.js'
import type { EvaluationContext } from '../../context.js'
import { arrayValue } from '../../values/build.js'
import { formatValue } from '../../values/format.js'
import { integerArgument } from '../../values/integer-argument.js'
import { keepValue, modifier, type Leaf, type Modifier } from '../modifier.js'

const addToSet = modifier('$addToSet', true, (path, argument, { strings }) => {
  const candidates = eachOf(argument)
  const apply: Leaf['apply'] = (existing) => {
    if (existing !== undefined && existing.type !== BsonType.array)
      throw new CommandError(
        'BadValue',
        `Cannot apply $addToSet to non-array field. Field named '${path.split('.').at(-1)}' has non-array type ${typeName(existing.type)}`,
      )
    const elements = existing === undefined ? [] : elementsOf(existing)
    const before = elements.length
    for (const candidate of candidates)
      if (!elements.some((element) => compareValues(element, candidate, strings) === 0)) elements.push(candidate)
    return existing !== undefined && elements.length === before ? keepValue : arrayValue(elements)
  }
  return { apply, appendsTo: () => true }
})

function eachOf(argument: RawValue): RawValue[] {
  if (argument.type !== BsonType.object || firstFieldName(argument.slice()) !== '$each') return [argument]
  const it = new FieldIterator(argument.bytes, argument.start)
  it.next()
  const each = it.value()
  if (each.type !== BsonType.array)
    throw new CommandError(
      'TypeMismatch',
      `The argument to $each in $addToSet must be an array but it was of type ${typeName(each.type)}`,
    )
  if (it.next())
    throw new CommandError('BadValue', `Found unexpected fields after $each in $addToSet: ${formatValue(argument)}`)
  return elementsOf(each)
}

function removeElements(
  name: string,
  shouldGo: (element: RawValue) => boolean,
): ReturnType<Parameters<typeof modifier>[2]> {
  return (existing) => {
    if (existing === undefined) return keepValue
    if (existing.type !== BsonType.array)
      throw new CommandError('BadValue', `Cannot apply ${name} to a non-array value`)
    const elements = elementsOf(existing)
    const kept = elements.filter((element) => !shouldGo(element))
    return kept.length === elements.length ? keepValue : arrayValue(kept)
  }
}

/** $pull has operators on the element, a filter on documents, or a value to be equal to. */
function pullTest(argument: RawValue, context: EvaluationContext): (element: RawValue) => boolean {
  const isOperators = argument.type === BsonType.object && pathOperators.has(firstFieldName(argument.slice()) ?? '')
  if (argument.type === BsonType.regex || isOperators) {
    const filter = compileFilter(new DocumentWriter().value('', argument).finish(), context, noFilterFeatures)
    // Test the element as a field: an element that is an array is traversed.
    return (element) => filter.matches(new DocumentWriter().value('', element).finish())
  }
  if (argument.type === BsonType.object) {
    const filter = compileFilter(argument.slice(), context, noFilterFeatures)
    return (element) => element.type === BsonType.object && filter.matches(element.slice())
  }
  return (element) => compareValues(element, argument, context.strings) === 0
}

const pullAll = modifier('$pullAll', false, (_path, argument, { strings }) => {
  if (argument.type !== BsonType.array)
    throw new CommandError('BadValue', `$pullAll requires an array argument but was given a ${typeName(argument.type)}`)
  const unwanted = elementsOf(argument)
  return removeElements('$pull', (element) => unwanted.some((value) => compareValues(element, value, strings) === 0))
})

const pop = modifier('$pop', false, (path, argument) => {
  const end = integerArgument(path, argument)
  if (end !== 1n && end !== -1n) throw new CommandError('FailedToParse', `$pop expects 1 or -1, found: ${end}`)
  return (existing, context) => {
    if (existing === undefined) return keepValue
    if (existing.type !== BsonType.array)
      throw new CommandError(
        'TypeMismatch',
        `Path '${context.path}' contains an element of non-array type '${typeName(existing.type)}'`,
      )
    const elements = elementsOf(existing)
    if (elements.length === 0) return keepValue
    return arrayValue(end === 1n ? elements.slice(0, -1) : elements.slice(1))
  }
})

export const arrayModifiers: readonly Modifier[] = [
  addToSet,
  modifier('$pull', false, (_path, argument, context) => removeElements('$pull', pullTest(argument, context))),
  pullAll,
  pop,
]
