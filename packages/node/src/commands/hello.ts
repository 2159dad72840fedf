import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, elementsOf, type RawValue } from '@shardlab/bson'
import { maxBsonObjectSize, maxMessageSizeBytes, maxWriteBatchSize, negotiateCompression } from '@shardlab/wire'
import type { NodeInvocation } from '../invocation.js'
import { sessionTimeoutMinutes } from '../sessions/session-catalog.js'

/** The awaitable form's arguments. @throws CommandError 51760, 51759, 51758 as the server */
export function awaitableHello(topologyVersion: RawValue | undefined, maxAwaitTimeMS: RawValue | undefined): number | null {
  if ((topologyVersion === undefined) !== (maxAwaitTimeMS === undefined)) {
    throw new CommandError(51760, topologyVersion === undefined ? "A request with a 'maxAwaitTimeMS' must include a 'topologyVersion'" : "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
  }
  if (maxAwaitTimeMS === undefined) return null
  const ms = maxAwaitTimeMS.asNumber()
  if (ms < 0) throw new CommandError(51759, `maxAwaitTimeMS must be a non-negative integer`)
  return ms
}

/** Compressors that the client offered. */
export function offeredCompressors(compression: RawValue | undefined): string[] {
  if (compression?.type !== BsonType.array) return []
  return elementsOf(compression).filter(value => value.type === BsonType.string).map(value => value.asString())
}

/** Appends what hello and its older forms say of limits, time and wire versions. */
export function writeHelloCommon(writer: DocumentWriter, options: { readonly nowMs: number; readonly connectionId: number; readonly maxWireVersion: number; readonly compressors: readonly string[] }): DocumentWriter {
  writer
    .int32('maxBsonObjectSize', maxBsonObjectSize)
    .int32('maxMessageSizeBytes', maxMessageSizeBytes)
    .int32('maxWriteBatchSize', maxWriteBatchSize)
    .date('localTime', options.nowMs)
    .int32('logicalSessionTimeoutMinutes', sessionTimeoutMinutes)
    .int32('connectionId', options.connectionId)
    .int32('minWireVersion', 0)
    .int32('maxWireVersion', options.maxWireVersion)
    .bool('readOnly', false)
  const agreed = negotiateCompression([...options.compressors])
  if (agreed.length > 0) {
    writer.startArray('compression')
    agreed.forEach((name, i) => writer.string(String(i), name))
    writer.end()
  }
  return writer
}

/** A one-member replica set whose primary this node is. */
export const hello: CommandRow<NodeInvocation> = {
  name: 'hello',
  aliases: ['isMaster', 'ismaster'],
  routing: 'local',
  access: 'none',
  manual: 'reference/command/hello',
  status: 'full',
  summary: 'Introduces the member: role, limits, wire versions.',
  async run({ host, args, connectionId }) {
    const waitMs = awaitableHello(args.value('topologyVersion'), args.value('maxAwaitTimeMS'))
    if (waitMs !== null) await host.context.sleep(waitMs)
    const { context } = host
    const writer = new DocumentWriter(1024)
      .startDocument('topologyVersion')
      .objectId('processId', host.processId)
      .int64('counter', 6n)
      .end()
      .startArray('hosts')
      .string('0', context.endpoint)
      .end()
      .string('setName', host.role.setName)
      .int32('setVersion', 1)
    writer.bool(args.command === 'hello' ? 'isWritablePrimary' : 'ismaster', true).bool('secondary', false).string('primary', context.endpoint).string('me', context.endpoint)
    writer.objectId('electionId', electionId)
    const [seconds, increment] = host.clock.time
    const opTime = (name: string) => writer.startDocument(name).timestamp('ts', seconds, increment).int64('t', 1n).end()
    writer.startDocument('lastWrite')
    opTime('opTime')
    writer.date('lastWriteDate', seconds * 1000)
    opTime('majorityOpTime')
    writer.date('majorityWriteDate', seconds * 1000).end()
    if (args.bool('helloOk') === true) writer.bool('helloOk', true)
    return writeHelloCommon(writer, { nowMs: context.now(), connectionId, maxWireVersion: host.options.maxWireVersion, compressors: offeredCompressors(args.value('compression')) })
  },
}

const electionId = new Uint8Array([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1])
