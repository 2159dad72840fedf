import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { EvaluationContext, OuterStage } from '@shardlab/query'
import {
  aggregateErrorContext,
  aggregateSpec,
  writeResults,
  withExecutorContext,
  batchSizeOf,
  checkCursorArgument,
  defaultFirstBatch,
  isChangeStream,
  namespaceOfAggregate,
  wantsSingleReply,
  withSingleReply,
  withStreamLabel,
} from '@shardlab/member'
import { openChangeStream } from '../change-streams/open-change-stream.js'
import { bindPipeline, openPipeline } from '../read/aggregation/open-pipeline.js'
import { nodeSink } from '../read/aggregation/writers/node-sink.js'
import type { CursorSource } from '../cursors/cursor-manager.js'
import { nextDocument } from '../cursors/resume-source.js'
import { writeFirstBatch } from '../cursors/cursor-reply.js'
import { explainItself } from './explain.js'
import { refuseView } from '../views/refuse-view.js'
import { invocationOnView, viewFor } from '../views/run-on-view.js'
import type { NodeInvocation } from '../host/node-host.js'

export const aggregate: CommandRow<NodeInvocation> = {
  ...aggregateSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D109', 'D203', 'D301', 'D404', 'D501', 'D502', 'D505', 'D609', 'D613'],
  summary: 'Runs an aggregation pipeline.',
  run(invocation) {
    const { args, host } = invocation
    const ns = namespaceOfAggregate(invocation)
    if (args.bool('explain') === true) return explainItself(invocation)
    if (wantsSingleReply(invocation))
      return withSingleReply(
        invocation,
        (whole) => runAggregate(whole, ns),
        (id) => host.cursors.close(id),
      )
    checkCursorArgument(args)
    return runAggregate(invocation, ns)
  },
}

async function runAggregate(invocation: NodeInvocation, ns: string): Promise<DocumentWriter> {
  if (isChangeStream(invocation.args.pipeline()!)) refuseView(invocation.host, ns)
  const view = viewFor(invocation, ns)
  if (view !== null) return runAggregate(invocationOnView(invocation, ns, view), view.ns)
  const { args, host } = invocation
  const batchSize = batchSizeOf(args)
  const bound = bindPipeline(invocation, ns, args.pipeline()!)
  if (bound.pipeline.source?.name === '$changeStream') {
    const options = { batchSize: batchSize ?? defaultFirstBatch, singleBatch: false, noTimeout: false }
    try {
      const stream = openChangeStream(invocation, ns, bound.pipeline)
      return await writeFirstBatch(invocation, ns, stream, { ...options, tailable: 'await-data' })
    } catch (error) {
      throw withStreamLabel(error, host.behaviours)
    }
  }
  const source = await openPipeline(invocation, ns, bound)
  try {
    const { writer } = bound.pipeline
    if (writer !== null) return await runWriting(invocation, ns, source, writer, bound.evaluation)
    const countMax = batchSize ?? defaultFirstBatch
    return await writeFirstBatch(invocation, ns, source, { batchSize: countMax, singleBatch: false, noTimeout: false })
  } catch (error) {
    source.close?.()
    throw withExecutorContext(error, host.behaviours, aggregateErrorContext(host.behaviours, ns))
  }
}

async function runWriting(
  invocation: NodeInvocation,
  ns: string,
  source: CursorSource,
  writer: OuterStage,
  evaluation: EvaluationContext,
): Promise<DocumentWriter> {
  const results = { next: () => nextDocument(invocation, source) }
  await writeResults(writer, invocation.db, results, nodeSink(invocation, evaluation))
  return new DocumentWriter(128)
    .startDocument('cursor')
    .startArray('firstBatch')
    .end()
    .int64('id', 0n)
    .string('ns', invocation.cursorNs ?? ns)
    .end()
}
