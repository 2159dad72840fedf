/** `$changeStream` in an aggregate on one node. Server: document_source_change_stream.cpp. */
import { CommandError } from '@shardlab/bson'
import { checkConcernOfStream, parseChangeStream } from '@shardlab/member'
import type { Pipeline } from '@shardlab/query'
import type { NodeInvocation } from '../host/node-host.js'
import { liveNode } from '../read/snapshots/live-node.js'
import { ChangeStreamSource } from './change-stream-source.js'
import { imagesOfNode } from './images.js'
import { startNow } from './stream-start.js'

/** @throws CommandError 40573 on a standalone, 20, 72 and those of {@link parseChangeStream} */
export function openChangeStream(invocation: NodeInvocation, ns: string, pipeline: Pipeline): ChangeStreamSource {
  const { args, concerns, routed } = invocation
  const host = liveNode(invocation.host)
  if (host.isStandalone) throw new CommandError(40573, 'The $changeStream stage is only supported on replica sets')
  const { argument } = pipeline.source!
  const isRouted = routed !== null
  const parsed = parseChangeStream({
    ...{ ns, argument, stages: pipeline.stages, behaviours: host.behaviours, onRouter: false, isRouted },
    wantsFragmentTokens: args.bool('$_generateV2ResumeTokens') === true,
  })
  const spec = host.context.mutated('streamMigrationFilterOff') ? { ...parsed, showMigrationEvents: true } : parsed
  checkConcernOfStream(concerns.read.level)
  const images = imagesOfNode(host, isRouted)
  return new ChangeStreamSource({
    host,
    spec,
    start: spec.start ?? startNow(host, spec.tokenVersion),
    run: pipeline.open(),
    isRouted,
    images,
  })
}
