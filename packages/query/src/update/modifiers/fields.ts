import {
  BsonType,
  CommandError,
  compareValues,
  documentValue,
  FieldIterator,
  findField,
  findPath,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { EvaluationContext } from '../../context.js'
import { dateValue, identical, timestampValue } from '../../values/build.js'
import { isArrayIndex } from '../../path/field-path.js'
import { formatField, formatValue } from '../../values/format.js'
import { documentIdText, keepValue, modifier, removeValue, type Leaf, type Modifier } from '../modifier.js'

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

const removal: Leaf = {
  createsPath: false,
  removes: true,
  toleratesBlocked: true,
  apply: (existing) => (existing === undefined ? keepValue : removeValue),
}

const unset: Modifier = {
  name: '$unset',
  manualPage: 'update/unset',
  status: 'complete',
  compile: (path) => [{ path, leaf: removal }],
}

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
  if (type === 'date') return dateValue(context.now())
  return timestampValue(...(context.clusterTime?.() ?? [Math.floor(context.now() / 1000), 1]))
}

/** `$`, `$[]` or `$[name]`. */
const dynamicPart = /(^|\.)\$(\[[^.]*\])?(\.|$)/

function compileRename(from: string, argument: RawValue): ReturnType<Modifier['compile']> {
  if (argument.type !== BsonType.string)
    throw new CommandError('BadValue', `The 'to' field for $rename must be a string: ${from}: ${formatValue(argument)}`)
  const to = argument.asString()
  if (from === to)
    throw new CommandError(
      'BadValue',
      `The source and target field for $rename must differ: ${from}: ${formatValue(argument)}`,
    )
  if (from.startsWith(`${to}.`) || to.startsWith(`${from}.`))
    throw new CommandError(
      'BadValue',
      `The source and target field for $rename must not be on the same path: ${from}: ${formatValue(argument)}`,
    )
  if (dynamicPart.test(from))
    throw new CommandError('BadValue', `The source field for $rename may not be dynamic: ${from}`)
  if (dynamicPart.test(to))
    throw new CommandError('BadValue', `The destination field for $rename may not be dynamic: ${to}`)
  return [
    { path: from, leaf: removal },
    {
      path: to,
      leaf: {
        createsPath: true,
        isNeeded(original) {
          if (renamedValue(from, original) === undefined) return false
          checkNoArrayOn(to, 'destination', original)
          return true
        },
        apply(existing, { original }) {
          const value = renamedValue(from, original)
          return value === undefined || (existing !== undefined && identical(existing, value)) ? keepValue : value
        },
      },
    },
  ]
}

/**
 * @throws CommandError PathNotViable (28) when the path leads through a value without fields,
 *   BadValue (2) when it leads through an array
 */
function renamedValue(path: string, document: Uint8Array): RawValue | undefined {
  let value = documentValue(document)
  let parent = ''
  for (const name of path.split('.')) {
    if (value.type !== BsonType.object && !(value.type === BsonType.array && isArrayIndex(name)))
      throw new CommandError(
        'PathNotViable',
        `cannot use the part (${name} of ${path}) to traverse the element ({${formatField(parent, value)}})`,
      )
    const next = findField(value.bytes, name, value.start)
    if (next === undefined) return undefined
    value = next
    parent = name
  }
  checkNoArrayOn(path, 'source', document)
  return value
}

/** Neither end of a $rename may be inside an array; the error names the innermost one. */
function checkNoArrayOn(path: string, end: 'source' | 'destination', document: Uint8Array): void {
  const names = path.split('.')
  for (let i = names.length - 1; i > 0; i--) {
    if (findPath(document, names.slice(0, i).join('.'))?.type === BsonType.array)
      throw new CommandError(
        'BadValue',
        `The ${end} field cannot be an array element, '${path}' in doc with ${documentIdText(document)} has an array field called '${names[i - 1]}'`,
      )
  }
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
