/** $set, $setOnInsert, $unset, $min, $max, $currentDate, $rename. */
import { BsonType, CommandError, compareValues, FieldIterator, findPath, typeName, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../../context.js'
import { dateValue, identical, timestampValue } from '../../values/build.js'
import { formatValue } from '../../values/format.js'
import { keepValue, modifier, removeValue, type Modifier } from '../modifier.js'

const set = modifier(
  '$set',
  true,
  (_path, argument) => (existing) => (existing !== undefined && identical(existing, argument) ? keepValue : argument),
)

const setOnInsert: Modifier = {
  ...modifier(
    '$setOnInsert',
    true,
    (_path, argument) =>
      (existing, { isInsert }) =>
        !isInsert || (existing !== undefined && identical(existing, argument)) ? keepValue : argument,
  ),
}

const unset = modifier('$unset', false, () => (existing) => (existing === undefined ? keepValue : removeValue))

function extreme(name: string, wanted: -1 | 1): Modifier {
  return modifier(
    name,
    true,
    (_path, argument, { strings }) =>
      (existing) =>
        existing !== undefined && compareValues(argument, existing, strings) * wanted <= 0 ? keepValue : argument,
  )
}

function currentDate(argument: RawValue, context: EvaluationContext): RawValue {
  let type = 'date'
  if (argument.type === BsonType.object) {
    let given: RawValue | undefined
    for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
      if (it.name() !== '$type') throw new CommandError('BadValue', `Unrecognized $currentDate option: ${it.name()}`)
      given = it.value()
    }
    if (given?.type !== BsonType.string || !['date', 'timestamp'].includes(given.asString()))
      throw new CommandError(
        'BadValue',
        "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
      )
    type = given.asString()
  } else if (argument.type !== BsonType.bool) {
    throw new CommandError(
      'BadValue',
      `${typeName(argument.type)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    )
  }
  if (type === 'date') return dateValue(context.nowMs)
  return timestampValue(...(context.clusterTime?.() ?? [Math.floor(context.nowMs / 1000), 1]))
}

function compileRename(from: string, argument: RawValue): ReturnType<Modifier['compile']> {
  if (argument.type !== BsonType.string)
    throw new CommandError('BadValue', `The 'to' field for $rename must be a string: ${from}: ${formatValue(argument)}`)
  const to = argument.asString()
  if (from === to)
    throw new CommandError('BadValue', `The source and target field for $rename must differ: ${from}: ${formatValue(argument)}`)
  if (/(^|\.)\$/.test(from)) throw new CommandError('BadValue', `The source field for $rename may not be dynamic: ${from}`)
  if (/(^|\.)\$/.test(to)) throw new CommandError('BadValue', `The destination field for $rename may not be dynamic: ${to}`)
  const source = (original: Uint8Array): RawValue | undefined => {
    checkNoArrayOn(from, 'source', original)
    return findPath(original, from)
  }
  return [
    { path: from, leaf: { createsPath: false, apply: (existing) => (existing === undefined ? keepValue : removeValue) } },
    {
      path: to,
      leaf: {
        createsPath: true,
        apply(existing, { original }) {
          const value = source(original)
          if (value !== undefined) checkNoArrayOn(to, 'destination', original)
          return value === undefined || (existing !== undefined && identical(existing, value)) ? keepValue : value
        },
      },
    },
  ]
}

/** Neither end of a $rename may lie in an array. */
function checkNoArrayOn(path: string, end: 'source' | 'destination', document: Uint8Array): void {
  const names = path.split('.')
  for (let i = 1; i < names.length; i++) {
    const parent = names.slice(0, i).join('.')
    if (findPath(document, parent)?.type === BsonType.array)
      throw new CommandError(
        'BadValue',
        `The ${end} field cannot be an array element, '${path}' in doc with ${idText(document)} has an array field called '${parent}'`,
      )
  }
}

function idText(document: Uint8Array): string {
  const id = findPath(document, '_id')
  return id === undefined ? 'no id' : `_id: ${formatValue(id)}`
}

export const fieldModifiers: readonly Modifier[] = [
  set,
  setOnInsert,
  unset,
  extreme('$min', -1),
  extreme('$max', 1),
  modifier('$currentDate', true, (_path, argument, context) => {
    currentDate(argument, context)
    return () => currentDate(argument, context)
  }),
  { name: '$rename', manualPage: 'update/rename', status: 'complete', compile: compileRename },
]
