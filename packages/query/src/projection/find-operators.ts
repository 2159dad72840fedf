import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  findField,
  FieldIterator,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { compileFilter, type Filter } from '../filter/compile.js'
import { noFilterFeatures } from '../filter/features.js'
import { toNumber } from '../values/arithmetic.js'
import { arrayValue } from '../values/build.js'
import type { Compute, Transform } from './tree.js'

/**
 * @param refusesSkip a position that is not a number; otherwise it is 0
 * @throws CommandError 31272, 31273, 31257 to 31259
 */
export function compileSlice(argument: RawValue, refusesSkip: boolean): Transform {
  if (argument.isNumber()) {
    const count = clampedInt(argument)
    return transformArray((elements) => (count >= 0 ? elements.slice(0, count) : elements.slice(count)))
  }
  if (argument.type !== BsonType.array)
    throw new CommandError(31273, '$slice only supports numbers and [skip, limit] arrays')
  const [skip, limit, ...rest] = elementsOf(argument)
  if (skip === undefined || limit === undefined || rest.length > 0)
    throw new CommandError(31272, '$slice array argument should be of form [skip, limit]')
  if (!skip.isNumber() && refusesSkip)
    throw new CommandError(31257, `$slice expects the skip argument to be a number, got ${typeName(skip.type)}`)
  if (!limit.isNumber())
    throw new CommandError(31258, `$slice expects the limit argument to be a number, got ${typeName(limit.type)}`)
  const from = skip.isNumber() ? clampedInt(skip) : 0
  const count = clampedInt(limit)
  if (count <= 0) throw new CommandError(31259, `$slice limit must be positive, got ${count}`)
  return transformArray((elements) => {
    const start = from < 0 ? Math.max(0, elements.length + from) : from
    return elements.slice(start, start + count)
  })
}

/** As the server's numberInt(): clamped to 32 bits; NaN is 0. */
function clampedInt(value: RawValue): number {
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(toNumber(value) || 0)))
}

function transformArray(pick: (elements: RawValue[]) => RawValue[]): Transform {
  return (value) => (value.type === BsonType.array ? arrayValue(pick(elementsOf(value))) : value)
}

export function compileElemMatch(field: string, argument: RawValue, context: EvaluationContext): Compute {
  if (argument.type !== BsonType.object)
    throw new CommandError(31274, `elemMatch: Invalid argument, object required, but got ${typeName(argument.type)}`)
  const filter = compileFilter(
    new DocumentWriter().startDocument(field).value('$elemMatch', argument).end().finish(),
    context,
    noFilterFeatures,
  )
  return (document) => {
    const position = filter.matches(document) ? filter.matchedPosition(document) : -1
    const array = findField(document, field)
    return position < 0 || array === undefined ? undefined : arrayValue([elementsOf(array)[position]!])
  }
}

/** `'a.$': 1` keeps the element that the query matched. */
export function positionalTransform(filter: Filter, position: () => number): Transform {
  return (value) => {
    if (value.type !== BsonType.array) return value
    const index = position()
    let at = 0
    for (const it = new FieldIterator(value.bytes, value.start); it.next(); at++)
      if (at === index) return arrayValue([it.value()])
    if (filter.root.kind === 'always') return value
    throw new CommandError(
      51246,
      "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array",
    )
  }
}
