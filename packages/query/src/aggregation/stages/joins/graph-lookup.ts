/** Manual: aggregation/graphLookup. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  encodeKeyString,
  FieldIterator,
  findField,
  int64Value,
  nullValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { compileFilter } from '../../../filter/compile.js'
import { pipelineFilterFeatures } from '../../../filter/features.js'
import { exactInteger, truncateToInt64 } from '../../../values/arithmetic.js'
import { formatDocument } from '../../../values/format.js'
import { valueClasses } from '../../../values/value-classes.js'
import { compileExpression, type DocumentExpression } from '../../expressions/compile.js'
import { checkFieldPath } from '../../expressions/field-path.js'
import type { ForeignRead } from './join-request.js'
import { openJoin, readForeign, type JoinRun } from './join-run.js'
import { arrayOf } from './lookup.js'
import { checkForeignName } from './lookup-arguments.js'
import { valuesAtPath } from './lookup-match.js'
import type { CompiledStage, StageContext, StageOperator } from '../stage.js'
import type { StageRun } from '../stage-run.js'
import { setAt } from '../per-document/unwind.js'

/** For one search. allowDiskUse does not raise it. */
const maxSearchBytes = 100 * 1024 * 1024

interface GraphArguments {
  readonly from: string
  readonly as: string
  readonly startWith: RawValue
  readonly connectFromField: string
  readonly connectToField: string
  readonly depthField: string | null
  readonly maxDepth: number
  /** Null: no restriction. */
  readonly restriction: Uint8Array | null
}

function parseGraph(argument: RawValue): GraphArguments {
  if (argument.type !== BsonType.object)
    throw new CommandError(
      'FailedToParse',
      `the $graphLookup stage specification must be an object, but found ${typeName(argument.type)}`,
    )
  if (findField(argument.bytes, 'from', argument.start) === undefined)
    throw new CommandError(
      'FailedToParse',
      `missing 'from' option to $graphLookup stage specification: ${formatDocument(argument.bytes, argument.start)}`,
    )
  const strings = { from: '', as: '', connectFromField: '', connectToField: '', depthField: '' }
  let startWith: RawValue | null = null
  let maxDepth = Infinity
  let restriction: Uint8Array | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === 'startWith') startWith = value
    else if (name === 'maxDepth') maxDepth = depthOf(value)
    else if (name === 'restrictSearchWithMatch') {
      if (value.type !== BsonType.object)
        throw new CommandError(40185, `restrictSearchWithMatch must be an object, found ${typeName(value.type)}`)
      restriction = value.slice()
    } else if (!Object.hasOwn(strings, name)) throw new CommandError(40104, `Unknown argument to $graphLookup: ${name}`)
    else if (value.type !== BsonType.string) throw wrongString(name, value)
    else strings[name as keyof typeof strings] = value.asString()
  }
  const { from, as, connectFromField, connectToField, depthField } = strings
  if (startWith === null || as === '' || connectFromField === '' || connectToField === '')
    throw new CommandError(
      40105,
      "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    )
  const hasDepth = findField(argument.bytes, 'depthField', argument.start) !== undefined
  return {
    from,
    as,
    startWith,
    connectFromField,
    connectToField,
    depthField: hasDepth ? depthField : null,
    maxDepth,
    restriction,
  }
}

function wrongString(name: string, value: RawValue): CommandError {
  return name === 'from'
    ? new CommandError('FailedToParse', `$graphLookup 'from' field must be a string, but found ${typeName(value.type)}`)
    : new CommandError(40103, `expected string as argument for ${name}, found: ${typeName(value.type)}`)
}

function depthOf(value: RawValue): number {
  if (!value.isNumber()) throw new CommandError(40100, `maxDepth must be numeric, found type: ${typeName(value.type)}`)
  const depth = truncateToInt64(value) ?? 0n
  if (depth < 0n) throw new CommandError(40101, `maxDepth requires a nonnegative argument, found: ${depth}`)
  if (exactInteger(value) === null)
    throw new CommandError(40102, `maxDepth could not be represented as a long long: ${depth}`)
  return Number(depth)
}

function compileGraph(argument: RawValue, context: StageContext): CompiledStage {
  const { evaluation } = context
  const given = parseGraph(argument)
  checkForeignName('$graphLookup', given.from, context)
  if (given.restriction !== null) {
    try {
      compileFilter(given.restriction, evaluation, pipelineFilterFeatures)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      throw new CommandError(
        error.code,
        `Failed to parse 'restrictSearchWithMatch' option to $graphLookup :: caused by :: ${error.message}`,
      )
    }
  }
  const search: Search = {
    from: { db: context.db, collection: given.from, variables: evaluation.variables ?? new Map() },
    as: checkFieldPath(given.as),
    startWith: compileExpression(given.startWith, evaluation),
    connectFrom: checkFieldPath(given.connectFromField),
    connectTo: checkFieldPath(given.connectToField).join('.'),
    depthField: given.depthField === null ? null : checkFieldPath(given.depthField),
    maxDepth: given.maxDepth,
    restriction: given.restriction,
    classOf: valueClasses(evaluation.strings),
  }
  return { name: '$graphLookup', open: (next, rest) => openJoin(graphRun(search, next), next, rest, 1) }
}

interface Search {
  readonly from: Omit<ForeignRead, 'stages'>
  readonly as: readonly string[]
  readonly startWith: DocumentExpression
  readonly connectFrom: readonly string[]
  readonly connectTo: string
  readonly depthField: readonly string[] | null
  readonly maxDepth: number
  readonly restriction: Uint8Array | null
  readonly classOf: (value: RawValue) => string
}

function graphRun(search: Search, next: StageRun): JoinRun {
  return {
    *join(documents) {
      for (const document of documents) {
        if (next.satisfied) return
        const visited = new Map<string, Uint8Array>()
        let bytes = 0
        let frontier = frontierOf(search, startingValues(search.startWith.evaluateOn(document)))
        for (let depth = 0; depth <= search.maxDepth && frontier.size > 0; depth++) {
          const reached: RawValue[] = []
          yield* readForeign({ ...search.from, stages: [matchFrontier(search, [...frontier.values()])] }, (found) => {
            const id = findField(found, '_id')
            if (id === undefined)
              throw new CommandError(
                40271,
                `Documents in the '${search.from.db}.${search.from.collection}' namespace must contain an _id for de-duplication in $graphLookup`,
              )
            // Documents are identified by `_id`, regardless of the collation.
            const key = encodeKeyString([id])
            if (visited.has(key)) return
            visited.set(
              key,
              search.depthField === null ? found : setAt(found, search.depthField, int64Value(BigInt(depth))),
            )
            bytes += found.length + key.length
            const values = valuesAtPath(found, search.connectFrom)
            for (const value of values) bytes += value.end - value.start
            if (bytes >= maxSearchBytes)
              throw new CommandError(40099, '$graphLookup reached maximum memory consumption')
            for (const value of values) reached.push(value)
          })
          frontier = frontierOf(search, reached)
        }
        next.push(setAt(document, search.as, arrayOf([...visited.values()])))
      }
    },
  }
}

/** The search starts from each element of an array. A missing value has none. */
function startingValues(value: RawValue | undefined): RawValue[] {
  if (value === undefined) return []
  return value.type === BsonType.array ? elementsOf(value) : [value]
}

function frontierOf({ classOf }: Search, values: readonly RawValue[]): Map<string, RawValue> {
  const frontier = new Map<string, RawValue>()
  for (const value of values) {
    const key = `${value.type === BsonType.undefined || value.type === BsonType.null ? value.type : ''}${classOf(value)}`
    if (!frontier.has(key)) frontier.set(key, value)
  }
  return frontier
}

/** A missing field connects to nothing; null and undefined are different values. */
function matchFrontier({ restriction, connectTo }: Search, values: readonly RawValue[]): Uint8Array {
  const hasNull = values.some((value) => value.type === BsonType.null)
  const hasUndefined = values.some((value) => value.type === BsonType.undefined)
  const writer = new DocumentWriter().startDocument('$match').startArray('$and')
  let at = 0
  if (restriction !== null) writer.document(String(at++), restriction)
  writer.startDocument(String(at++)).startDocument(connectTo).startArray('$in')
  values.forEach((value, i) => writer.value(String(i), value.type === BsonType.undefined ? nullValue : value))
  writer.end().end().end()
  if (hasNull || hasUndefined)
    writer.startDocument(String(at++)).startDocument(connectTo).bool('$exists', true).end().end()
  if (hasNull !== hasUndefined)
    writer
      .startDocument(String(at))
      .startDocument(connectTo)
      .startDocument('$not')
      .string('$type', hasNull ? 'undefined' : 'null')
      .end()
      .end()
      .end()
  return writer.end().end().finish()
}

export const graphLookupStage: StageOperator = {
  name: '$graphLookup',
  manualPage: 'aggregation/graphLookup',
  status: 'complete',
  sharded: 'merger',
  foreign: (argument) => [{ stage: '$graphLookup', db: null, collection: parseGraph(argument).from, stages: [] }],
  compile: compileGraph,
}
