/**
 * The projections of find before they had expressions: flat, and of several kinds that are checked
 * one field after the other. Server: query/parsed_projection.cpp, until 4.2.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  firstFieldName,
  type RawValue,
} from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { pathNodes } from '../filter/ast.js'
import { compileFilter, type Filter } from '../filter/compile.js'
import { toNumber } from '../values/arithmetic.js'
import { formatField, formatDocument } from '../values/format.js'

const metadataKinds: ReadonlySet<string> = new Set([
  'textScore',
  'recordId',
  'indexKey',
  'geoNearDistance',
  'geoNearPoint',
  'sortKey',
])

/** A `$` after a dot is positional unless it begins the name of a DBRef's field. */
const positional = /\.\$(?!ref|id|db)/

/**
 * The same projection as later servers write it: values that are not documents become booleans.
 * @throws CommandError BadValue
 */
export function modernized(projection: Uint8Array, filter: Filter | undefined, context: EvaluationContext): Uint8Array {
  const writer = new DocumentWriter(projection.length)
  let included: boolean | null = null
  let arrays: 'elemMatch' | 'positional' | null = null
  for (const it = new FieldIterator(projection); it.next();) {
    const name = it.name()
    const value = it.value()
    if (value.type === BsonType.object) {
      if (checkOperator(name, value, arrays === 'positional', context) === '$elemMatch') arrays = 'elemMatch'
      writer.value(name, value)
    } else {
      const isIncluded = value.isTruthy()
      if (name !== '_id' || isIncluded) {
        if (included !== null && included !== isIncluded)
          throw badValue('Projection cannot have a mix of inclusion and exclusion.')
        included = isIncluded
      }
      writer.bool(name, isIncluded)
    }
    if (!positional.test(name)) continue
    checkPositional(name, value, arrays, filter)
    arrays = 'positional'
  }
  return writer.finish()
}

/** @returns the name of the operator */
function checkOperator(name: string, value: RawValue, isPositional: boolean, context: EvaluationContext): string {
  const document = value.slice()
  const it = new FieldIterator(document)
  const operator = firstFieldName(document)
  if (!it.next()) throw badValue(`>1 field in obj: ${formatDocument(document)}`)
  const argument = it.value()
  if (it.next()) throw badValue(`>1 field in obj: ${formatDocument(document)}`)
  if (operator === '$slice') checkSlice(argument)
  else if (operator === '$elemMatch') {
    if (argument.type !== BsonType.object) throw badValue('elemMatch: Invalid argument, object required.')
    if (isPositional) throw badValue('Cannot specify positional operator and $elemMatch.')
    if (name.includes('.')) throw badValue('Cannot use $elemMatch projection on a nested field.')
    compileFilter(new DocumentWriter().value(name, value).finish(), context)
  } else if (operator === '$meta') {
    if (name.includes('.')) throw badValue('field for $meta cannot be nested')
    if (argument.type !== BsonType.string) throw badValue('unexpected argument to $meta in proj')
    if (!metadataKinds.has(argument.asString())) throw badValue(`unsupported $meta operator: ${argument.asString()}`)
  } else throw badValue(`Unsupported projection option: ${formatField(name, value)}`)
  return operator
}

function checkSlice(argument: RawValue): void {
  if (argument.isNumber()) return
  if (argument.type !== BsonType.array) throw badValue('$slice only supports numbers and [skip, limit] arrays')
  const [, limit, ...rest] = elementsOf(argument)
  if (limit === undefined || rest.length > 0) throw badValue('$slice array wrong size')
  if (!limit.isNumber() || Math.trunc(toNumber(limit)) <= 0) throw badValue('$slice limit must be positive')
}

function checkPositional(
  name: string,
  value: RawValue,
  arrays: 'elemMatch' | 'positional' | null,
  filter: Filter | undefined,
): void {
  if (!value.isTruthy()) throw badValue('Cannot exclude array elements with the positional operator.')
  if (arrays === 'positional') throw badValue('Cannot specify more than one positional proj. per query.')
  if (arrays === 'elemMatch') throw badValue('Cannot specify positional operator and $elemMatch.')
  const rest = name.slice(name.indexOf('.$') + 2)
  if (rest.includes('.$'))
    throw badValue(`Positional projection '${name}' contains the positional operator more than once.`)
  const field = name.slice(0, name.indexOf('.'))
  const isMatched = filter !== undefined && [...pathNodes(filter.root)].some(({ path }) => path.split('.')[0] === field)
  if (!isMatched) throw badValue(`Positional projection '${name}' does not match the query document.`)
}

function badValue(message: string): CommandError {
  return new CommandError('BadValue', message)
}
