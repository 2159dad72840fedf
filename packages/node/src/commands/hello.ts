import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, sameBytes, type RawValue } from '@shardlab/bson'
import { noteMetadata, writeHelloLimits, writeAgreedCompression, helloSpec, writeLoginOfHello } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'

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
 * Waits until the client does not have the current topology.
 * @throws CommandError 91 when the member shuts down, 31372 and 31382 for an invalid counter
 */
async function awaitChange(invocation: NodeInvocation, waitMs: number): Promise<void> {
  const { host, args } = invocation
  const known = args.value('topologyVersion')
  const isOfThisProcess = hasProcessId(known, host.processId)
  const counter =
    known?.type === BsonType.object ? findField(known.bytes, 'counter', known.start)?.asNumber() : undefined
  const { commands, state } = host.set.coordinator
  // The topology of a standalone mongod never changes, and its counter is 0.
  const own = host.isStandalone && counter === 0 ? state.topologyCounter : (counter ?? 0)
  const waits = commands.awaitsTopology({ isOfThisProcess, counter: own })
  if (waits instanceof CommandError) throw waits
  if (!waits) return
  await host.set.awaitTopology(own, waitMs, host.stopping)
  if (host.stopping.aborted) throw shuttingDown()
}

const shuttingDown = (): CommandError =>
  new CommandError('ShutdownInProgress', 'The server is in quiesce mode and will shut down')

export const hello: CommandRow<NodeInvocation> = {
  ...helloSpec,
  routing: 'local',
  status: 'full',
  summary: 'Describes the member: role, limits, wire versions.',
  run: (invocation) => writeHello(invocation, 'isWritablePrimary'),
}

export async function writeHello(invocation: NodeInvocation, primaryField: PrimaryField): Promise<DocumentWriter> {
  const { host, args, connectionId } = invocation
  const metadata = args.value('client')
  if (metadata !== undefined && connectionId !== 0) noteMetadata(host, connectionId, metadata)
  const waitMs = awaitableHello(args.value('topologyVersion'), args.value('maxAwaitTimeMS'))
  if (waitMs !== null) await awaitChange(invocation, waitMs)
  const writer = new DocumentWriter(1024)
  if (host.isStandalone) writeStandalone(writer, host, primaryField)
  else host.set.writeHello(writer, primaryField === 'ismaster')
  if (args.bool('helloOk') === true) writer.bool('helloOk', true)
  writeHelloLimits(writer, host.context.now(), connectionId, host.behaviours)
    .int32('minWireVersion', 0)
    .int32('maxWireVersion', host.options.maxWireVersion)
    .bool('readOnly', false)
  writeAgreedCompression(writer, args.value('compression'))
  if (connectionId !== 0) await writeLoginOfHello(invocation, writer)
  return writer
}

type PrimaryField = 'isWritablePrimary' | 'ismaster'

function writeStandalone(writer: DocumentWriter, { processId }: NodeHost, primaryField: PrimaryField): void {
  writer.bool(primaryField, true).startDocument('topologyVersion').objectId('processId', processId)
  writer.int64('counter', 0n).end()
}
