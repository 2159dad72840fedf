import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, sameBytes, type RawValue } from '@shardlab/bson'
import { noteMetadata, writeHelloLimits, writeAgreedCompression, helloSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** null: hello replies at once. @throws CommandError 31368, 31373 */
function awaitableHello(topologyVersion: RawValue | undefined, maxAwaitTimeMS: RawValue | undefined): number | null {
  if ((topologyVersion === undefined) !== (maxAwaitTimeMS === undefined)) {
    throw new CommandError(
      31368,
      topologyVersion === undefined
        ? "A request with a 'maxAwaitTimeMS' must include a 'topologyVersion'"
        : "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'",
    )
  }
  if (maxAwaitTimeMS === undefined) return null
  const ms = maxAwaitTimeMS.asNumber()
  if (!(ms >= 0)) throw new CommandError(31373, 'maxAwaitTimeMS must be a non-negative integer')
  return ms
}

/**
 * hello waits only for a client that has the topology of this process. Server:
 * replication_coordinator_impl.cpp, awaitHelloResponse.
 */
function hasProcessId(topologyVersion: RawValue | undefined, processId: Uint8Array): boolean {
  if (topologyVersion?.type !== BsonType.object) return false
  const known = findField(topologyVersion.bytes, 'processId', topologyVersion.start)
  return known?.type === BsonType.objectId && sameBytes(known.slice(), processId)
}

/**
 * Only sleeps, because the topology does not change. @throws CommandError 91 when the member shuts
 * down
 */
async function awaitNoChange({ host, operation }: NodeInvocation, waitMs: number): Promise<void> {
  if (!(await operation.sleep(host.context, waitMs)))
    throw new CommandError('ShutdownInProgress', 'The server is in quiesce mode and will shut down')
}

export const hello: CommandRow<NodeInvocation> = {
  ...helloSpec,
  routing: 'local',
  status: 'full',
  summary: 'Describes the member: role, limits, wire versions.',
  run: (invocation) => writeHello(invocation, 'isWritablePrimary'),
}

export async function writeHello(
  invocation: NodeInvocation,
  primaryField: 'isWritablePrimary' | 'ismaster',
): Promise<DocumentWriter> {
  const { host, args, connectionId, remote } = invocation
  const metadata = args.value('client')
  if (metadata !== undefined && connectionId !== 0) noteMetadata(host, connectionId, remote, metadata)
  const waitMs = awaitableHello(args.value('topologyVersion'), args.value('maxAwaitTimeMS'))
  if (waitMs !== null && hasProcessId(args.value('topologyVersion'), host.processId))
    await awaitNoChange(invocation, waitMs)
  const { context } = host
  const writer = new DocumentWriter(1024)
    .startDocument('topologyVersion')
    .objectId('processId', host.processId)
    // Each step-down and each election changes the topology.
    .int64('counter', 4n + 2n * host.primary.term + (host.primary.isPrimary ? 0n : 1n))
    .end()
    .startArray('hosts')
    .string('0', context.endpoint)
    .end()
    .string('setName', host.role.setName)
    .int32('setVersion', 1)
  const { isPrimary, electionId, term } = host.primary
  writer.bool(primaryField, isPrimary).bool('secondary', !isPrimary)
  if (isPrimary) writer.string('primary', context.endpoint)
  writer.string('me', context.endpoint)
  if (isPrimary) writer.objectId('electionId', electionId)
  const [seconds, increment] = host.clock.time
  const opTime = (name: string) => writer.startDocument(name).timestamp('ts', seconds, increment).int64('t', term).end()
  writer.startDocument('lastWrite')
  opTime('opTime')
  writer.date('lastWriteDate', seconds * 1000)
  opTime('majorityOpTime')
  writer.date('majorityWriteDate', seconds * 1000).end()
  if (args.bool('helloOk') === true) writer.bool('helloOk', true)
  writeHelloLimits(writer, context.now(), connectionId, host.behaviours)
    .int32('minWireVersion', 0)
    .int32('maxWireVersion', host.options.maxWireVersion)
    .bool('readOnly', false)
  return writeAgreedCompression(writer, args.value('compression'))
}
