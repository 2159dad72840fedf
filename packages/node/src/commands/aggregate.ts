import type { CommandRow } from '@shardlab/actor'
import { CommandError, firstFieldName } from '@shardlab/bson'
import { compilePipeline } from '@shardlab/query'
import { defaultFirstBatch } from '../cursors/cursor-manager.js'
import { writeFirstBatch } from '../cursors/cursor-reply.js'
import { filteredSource, PipelineSource } from '../crud/read-source.js'
import type { NodeInvocation } from '../invocation.js'
import { batchSizeOf, checkCursorArgument, hasCollation } from '../crud/read-arguments.js'

export const aggregateFields = {
  pipeline: 'array!',
  cursor: 'object',
  explain: 'bool',
  allowDiskUse: 'bool',
  bypassDocumentValidation: 'bool',
  collation: 'object',
  hint: 'string|object',
  let: 'object',
  needsMerge: 'bool',
  fromMongos: 'bool',
  fromRouter: 'bool',
  isMapReduceCommand: 'bool',
} as const

/** What `{aggregate: 1}` is answered with: no stage here has a data source of its own. */
export function collectionRequired(pipeline: readonly Uint8Array[]): CommandError {
  const [first] = pipeline
  return new CommandError(
    'InvalidNamespace',
    first === undefined
      ? '{aggregate: 1} is not valid for an empty pipeline.'
      : `{aggregate: 1} is not valid for '${firstFieldName(first)}'; a collection is required.`,
  )
}

export const aggregate: CommandRow<NodeInvocation> = {
  name: 'aggregate',
  routing: 'shard-key',
  access: 'read',
  manual: 'reference/command/aggregate',
  status: 'partial',
  missing: 'stages and expressions beyond those of the compatibility page; hint, collation, let, explain',
  summary: 'Runs an aggregation pipeline.',
  fields: aggregateFields,
  async run(invocation) {
    const { host, args, db } = invocation
    checkCursorArgument(args.document('cursor'), args.bool('explain') === true)
    for (const name of ['hint', 'let'] as const)
      if (args.has(name)) throw new CommandError('InvalidOptions', `${name} is not supported in aggregate`)
    if (hasCollation(args)) throw new CommandError('InvalidOptions', 'collation is not supported in aggregate')
    if (args.bool('explain') === true) throw new CommandError('InvalidOptions', 'explain is not supported in aggregate')
    const pipeline = compilePipeline(args.documents('pipeline')!, host.evaluation(), {})
    const collectionless = args.target.isNumber()
    if (collectionless) throw collectionRequired(args.documents('pipeline')!)
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    const { ownership } = entered instanceof Promise ? await entered : entered
    host.opcounters.command++
    const input = filteredSource(host.collection(ns)?.snapshot(), pipeline.leadingFilter, ownership, host.evaluation())
    const batchSize = batchSizeOf(args.document('cursor'))
    return writeFirstBatch(invocation, ns, new PipelineSource(input, pipeline.open()), {
      batchSize: batchSize ?? defaultFirstBatch,
      singleBatch: false,
      laterBatchSize: batchSize ?? 0,
      noTimeout: false,
    })
  },
}
