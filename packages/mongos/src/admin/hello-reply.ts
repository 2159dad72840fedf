/** Server: cluster_hello_cmd.cpp, mongos_topology_coordinator.cpp. */
import { BsonType, CommandError, compareBytes, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { noteMetadata, writeAgreedCompression, writeHelloLimits, writeLoginOfHello } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

/** The counter changes only at shutdown, when no reply is sent any more. */
const topologyCounter = 0n

/**
 * @throws CommandError 51758 to 51761 for invalid awaitable arguments, 186 for a second client
 * document, 91 while shutting down
 */
export async function writeHello(
  invocation: MongosInvocation,
  primaryField: 'isWritablePrimary' | 'ismaster',
): Promise<DocumentWriter> {
  const { args, connectionId, host } = invocation
  const { context, options } = host
  const metadata = args.value('client')
  if (metadata !== undefined) noteMetadata(host, connectionId, metadata)
  const { announcedWireVersion, nativeHelloIsAwaitable, nativeWireVersion } = host.behaviours
  await awaitChange(invocation)
  const writer = new DocumentWriter(768).bool(primaryField, true).string('msg', 'isdbgrid')
  if (!options.nativeWire || nativeHelloIsAwaitable)
    writer
      .startDocument('topologyVersion')
      .objectId('processId', host.processId)
      .int64('counter', topologyCounter)
      .end()
  if (args.bool('helloOk') === true) writer.bool('helloOk', true)
  writeHelloLimits(writer, context.now(), connectionId, host.behaviours)
    .int32('maxWireVersion', options.nativeWire ? nativeWireVersion : announcedWireVersion)
    .int32('minWireVersion', 0)
  writeAgreedCompression(writer, args.value('compression'))
  await writeLoginOfHello(invocation, writer)
  return writer
}

/**
 * The awaitable form waits for a topology change, which never happens, or until its time is over.
 */
async function awaitChange({ args, host, operation }: MongosInvocation): Promise<void> {
  const known = args.value('topologyVersion')
  const wait = args.value('maxAwaitTimeMS')
  if (known === undefined && wait === undefined) return
  if (wait === undefined)
    throw new CommandError(51760, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
  if (known === undefined)
    throw new CommandError(51760, "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")
  if (known.type !== BsonType.object)
    throw new CommandError('TypeMismatch', "BSON field 'topologyVersion' is the wrong type, expected type 'object'")
  const counterValue = findField(known.bytes, 'counter', known.start)
  if (counterValue?.type !== BsonType.int64)
    throw new CommandError(40414, "BSON field 'TopologyVersion.counter' is missing but a required field")
  const counter = counterValue.asBigInt()
  if (counter < 0n) throw new CommandError(51758, 'topologyVersion must have a non-negative counter')
  const waitMs = wait.asNumber()
  if (!(waitMs >= 0)) throw new CommandError(51759, 'maxAwaitTimeMS must be a non-negative integer')
  if (!isProcess(known.slice(), host.processId)) return
  if (counter > topologyCounter) {
    throw new CommandError(
      51761,
      `Received a topology version with counter: ${counter} which is greater than the mongos topology version counter: ${topologyCounter}`,
    )
  }
  if (!(await operation.sleep(host.context, waitMs)))
    throw new CommandError('ShutdownInProgress', 'The server is in quiesce mode and will shut down')
}

function isProcess(topologyVersion: Uint8Array, processId: Uint8Array): boolean {
  for (const it = new FieldIterator(topologyVersion); it.next();) {
    if (it.name() === 'processId')
      return (
        it.type === BsonType.objectId &&
        compareBytes(it.bytes, it.valueStart, it.valueEnd, processId, 0, processId.length) === 0
      )
  }
  return false
}
