/** Manual: aggregation/unionWith. */
import { BsonType, CommandError, FieldIterator, firstFieldName, typeName, type RawValue } from '@shardlab/bson'
import type { ForeignRead } from './join-request.js'
import { openJoin, readForeign, type JoinRun } from './join-run.js'
import { checkForeignName, pipelineArgument } from './lookup-arguments.js'
import type { CompiledStage, StageContext, StageOperator } from '../stage.js'
import type { StageRun } from '../stage-run.js'

interface UnionArguments {
  /** Null: the pipeline begins with $documents. */
  readonly collection: string | null
  readonly pipeline: readonly Uint8Array[]
}

function parseUnion(argument: RawValue): UnionArguments {
  if (argument.type === BsonType.string) return { collection: argument.asString(), pipeline: [] }
  if (argument.type !== BsonType.object)
    throw new CommandError(
      'FailedToParse',
      `the $unionWith stage specification must be an object or string, but found ${typeName(argument.type)}`,
    )
  let collection: string | null = null
  let pipeline: readonly Uint8Array[] | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    const value = it.value()
    const wrongType = (expected: string) =>
      new CommandError(
        'TypeMismatch',
        `BSON field '$unionWith.${name}' is the wrong type '${typeName(value.type)}', expected type '${expected}'`,
      )
    if (name === 'coll') {
      if (value.type !== BsonType.string) throw wrongType('string')
      collection = value.asString()
    } else if (name === 'pipeline') {
      if (value.type !== BsonType.array) throw wrongType('array')
      pipeline = pipelineArgument(value)
    } else throw new CommandError(40415, `BSON field '$unionWith.${name}' is an unknown field.`)
  }
  if (
    collection === null &&
    (pipeline === null || pipeline.length === 0 || firstFieldName(pipeline[0]!) !== '$documents')
  )
    throw new CommandError(
      'FailedToParse',
      '$unionWith stage without explicit collection must have a pipeline with $documents as first stage',
    )
  return { collection, pipeline: pipeline ?? [] }
}

function compileUnion(argument: RawValue, context: StageContext): CompiledStage {
  const { collection, pipeline } = parseUnion(argument)
  checkForeignName('$unionWith', collection, context)
  context.compilePipeline('unionWith', pipeline)
  const read: ForeignRead = {
    db: context.db,
    collection,
    stages: pipeline,
    variables: context.evaluation.variables ?? new Map(),
  }
  return { name: '$unionWith', open: (next, rest) => openJoin(unionRun(read, next), next, rest, 1) }
}

function unionRun(read: ForeignRead, next: StageRun): JoinRun {
  return {
    join(documents) {
      for (const document of documents) next.push(document)
      return null
    },
    *end() {
      yield* readForeign(read, (document) => {
        next.push(document)
        return !next.satisfied
      })
    },
  }
}

export const unionWithStage: StageOperator = {
  name: '$unionWith',
  manualPage: 'aggregation/unionWith',
  status: 'complete',
  sharded: 'merger',
  foreign(argument) {
    const { collection, pipeline } = parseUnion(argument)
    return [{ stage: '$unionWith', db: null, collection, stages: pipeline }]
  },
  compile: compileUnion,
}
