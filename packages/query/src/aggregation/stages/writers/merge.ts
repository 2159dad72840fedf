/** Manual: aggregation/merge; server: document_source_merge.cpp, document_source_merge_spec.cpp. */
import { BsonType, CommandError, elementsOf, FieldIterator, typeName, type RawValue } from '@shardlab/bson'
import { unboundVariable } from '../../../context.js'
import { compileExpression } from '../../expressions/compile.js'
import { checkFieldPath } from '../../expressions/field-path.js'
import { checkVariableName } from '../../expressions/variable-name.js'
import { pipelineArgument } from '../joins/lookup-arguments.js'
import { isValidTarget } from './out.js'
import { passThroughStage, type StageContext, type StageOperator } from '../stage.js'
import { internalDatabases } from './internal-databases.js'

const matchedModes = ['replace', 'keepExisting', 'merge', 'fail'] as const
const notMatchedModes = ['insert', 'discard', 'fail'] as const

export interface MergeSpecification {
  readonly db: string
  readonly collection: string
  /** Null: the default, `_id` and the shard key. */
  readonly on: readonly string[] | null
  /** A pipeline sees the new document as `$$new`, and the variables. */
  readonly whenMatched: (typeof matchedModes)[number] | readonly Uint8Array[]
  readonly whenNotMatched: (typeof notMatchedModes)[number]
  /** Expressions over the new document; null: not given, the default is `{ new: '$$ROOT' }`. */
  readonly variables: readonly { readonly name: string; readonly expression: RawValue }[] | null
}

/**
 * @param db of the pipeline
 * @throws CommandError 14, 40414, 40415, 2 and 51178 to 51199 for an invalid specification, 51181
 *   for modes that exclude each other, 73 InvalidNamespace, 31319, 31320, 51273
 */
export function parseMerge(argument: RawValue, db: string): MergeSpecification {
  if (argument.type !== BsonType.string && argument.type !== BsonType.object)
    throw new CommandError(
      'TypeMismatch',
      `$merge requires a string or object argument, but found ${typeName(argument.type)}`,
    )
  const fields = new Map<string, RawValue>()
  if (argument.type === BsonType.string) fields.set('into', argument)
  else
    for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
      const name = it.name()
      if (!['into', 'on', 'let', 'whenMatched', 'whenNotMatched'].includes(name))
        throw new CommandError(40415, `BSON field '$merge.${name}' is an unknown field.`)
      fields.set(name, it.value())
    }
  const into = fields.get('into')
  if (into === undefined) throw new CommandError(40414, "BSON field '$merge.into' is missing but a required field")
  const target = parseInto(into, db)
  const on = fields.has('on') ? parseOn(fields.get('on')!) : null
  const whenMatched = fields.has('whenMatched') ? parseWhenMatched(fields.get('whenMatched')!) : 'merge'
  const whenNotMatched = fields.has('whenNotMatched') ? parseWhenNotMatched(fields.get('whenNotMatched')!) : 'insert'
  const given = fields.get('let')
  if (given !== undefined && given.type !== BsonType.object)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '$merge.let' is the wrong type '${typeName(given.type)}', expected type 'object'`,
    )
  if (!isValidTarget(target))
    throw new CommandError('InvalidNamespace', `Invalid $merge target namespace: '${target.db}.${target.collection}'`)
  const mode = typeof whenMatched === 'string' ? whenMatched : 'pipeline'
  if ((mode === 'keepExisting' || mode === 'fail') && whenNotMatched !== 'insert')
    throw new CommandError(
      51181,
      `Combination of $merge modes 'whenMatched: ${mode}' and 'whenNotMatched: ${whenNotMatched}' is not supported`,
    )
  if (target.collection.startsWith('system.'))
    throw new CommandError(31319, `Cannot $merge to special collection: ${target.collection}`)
  if (internalDatabases.has(target.db))
    throw new CommandError(31320, `Cannot $merge to internal database: ${target.db}`)
  return { ...target, on, whenMatched, whenNotMatched, variables: parseLet(given, mode) }
}

function parseInto(into: RawValue, db: string): { db: string; collection: string } {
  if (into.type === BsonType.string) {
    if (into.asString() === '') throw new CommandError(5786800, "$merge 'into' field cannot be an empty string")
    return { db, collection: into.asString() }
  }
  if (into.type !== BsonType.object)
    throw new CommandError(
      51178,
      `$merge 'into' field  must be either a string or an object, but found ${typeName(into.type)}`,
    )
  let collection = ''
  let other = ''
  for (const it = new FieldIterator(into.bytes, into.start); it.next();) {
    const name = it.name()
    if (name !== 'db' && name !== 'coll')
      throw new CommandError(40415, `BSON field 'into.${name}' is an unknown field.`)
    if (it.type === BsonType.null || it.type === BsonType.undefined) continue
    if (it.type !== BsonType.string)
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'into.${name}' is the wrong type '${typeName(it.type)}', expected type 'string'`,
      )
    if (name === 'db') other = it.value().asString()
    else collection = it.value().asString()
  }
  if (collection === '')
    throw new CommandError(5786801, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined")
  return { db: other === '' ? db : other, collection }
}

function parseOn(on: RawValue): string[] {
  if (on.type !== BsonType.string && on.type !== BsonType.array)
    throw new CommandError(
      51186,
      `$merge 'on' field  must be either a string or an array of strings, but found ${typeName(on.type)}`,
    )
  const names = (on.type === BsonType.string ? [on] : elementsOf(on)).map((name) => {
    if (name.type !== BsonType.string)
      throw new CommandError(51134, `$merge 'on' array elements must be strings, but found ${typeName(name.type)}`)
    return name.asString()
  })
  if (names.length === 0)
    throw new CommandError(51187, "If explicitly specifying $merge 'on', must include at least one field")
  names.forEach((name, i) => {
    checkFieldPath(name)
    if (names.indexOf(name) < i) throw new CommandError(31465, `Found a duplicate field '${name}'`)
  })
  return names
}

function parseWhenMatched(value: RawValue): MergeSpecification['whenMatched'] {
  if (value.type === BsonType.array) return pipelineArgument(value)
  if (value.type !== BsonType.string)
    throw new CommandError(
      51191,
      `$merge 'whenMatched' field  must be either a string or an array, but found ${typeName(value.type)}`,
    )
  return enumeration(value.asString(), matchedModes, 'whenMatched')
}

function parseWhenNotMatched(value: RawValue): MergeSpecification['whenNotMatched'] {
  if (value.type !== BsonType.string)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '$merge.whenNotMatched' is the wrong type '${typeName(value.type)}', expected type 'string'`,
    )
  return enumeration(value.asString(), notMatchedModes, '$merge.whenNotMatched')
}

function enumeration<T extends string>(text: string, values: readonly T[], field: string): T {
  const value = values.find((each) => each === text)
  if (value === undefined)
    throw new CommandError('BadValue', `Enumeration value '${text}' for field '${field}' is not a valid value.`)
  return value
}

function parseLet(given: RawValue | undefined, mode: string): MergeSpecification['variables'] {
  if (given === undefined) return null
  if (mode !== 'pipeline') throw new CommandError(51199, `Cannot use 'let' variables with 'whenMatched: ${mode}' mode`)
  const variables: { name: string; expression: RawValue }[] = []
  for (const it = new FieldIterator(given.bytes, given.start); it.next();)
    variables.push({ name: it.name(), expression: it.value() })
  const reserved = variables.find(({ name }) => name === 'new')?.expression
  if (reserved !== undefined && !(reserved.type === BsonType.string && reserved.asString() === '$$ROOT'))
    throw new CommandError(51273, "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'")
  return variables
}

function check(argument: RawValue, context: StageContext): void {
  const { db, evaluation } = context
  const { variables, whenMatched, whenNotMatched } = parseMerge(argument, db)
  const unbound = new Map(evaluation.variables)
  for (const { name, expression } of variables ?? []) {
    checkVariableName(name)
    compileExpression(expression, evaluation)
    unbound.set(name, unboundVariable)
  }
  if (variables === null || whenNotMatched === 'insert') unbound.set('new', unboundVariable)
  if (typeof whenMatched !== 'string') context.compilePipeline('merge', whenMatched, unbound)
}

export const mergeStage: StageOperator = {
  name: '$merge',
  manualPage: 'aggregation/merge',
  status: 'partial',
  deviations: ['D202', 'D605'],
  sharded: 'merger',
  position: 'last',
  notIn: ['facet', 'lookup', 'unionWith'],
  writes: true,
  compile(argument, context) {
    check(argument, context)
    return passThroughStage('$merge')
  },
}
