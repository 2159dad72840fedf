import { DocumentWriter, BsonType, elementsOf, type RawValue } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { maxBsonObjectSize, maxMessageSizeBytes, maxWriteBatchSize, negotiateCompression } from '@shardlab/wire'
import { sessionTimeoutMinutes } from '../sessions/session-catalog.js'

export function writeHelloLimits(
  writer: DocumentWriter,
  nowMs: number,
  connectionId: number,
  { helloConnectionId }: Behaviours,
): DocumentWriter {
  writer
    .int32('maxBsonObjectSize', maxBsonObjectSize)
    .int32('maxMessageSizeBytes', maxMessageSizeBytes)
    .int32('maxWriteBatchSize', maxWriteBatchSize)
    .date('localTime', nowMs)
    .int32('logicalSessionTimeoutMinutes', sessionTimeoutMinutes)
  return helloConnectionId ? writer.int32('connectionId', connectionId) : writer
}

/** Appends nothing if the sides have no compressor in common. */
export function writeAgreedCompression(writer: DocumentWriter, offered: RawValue | undefined): DocumentWriter {
  if (offered?.type !== BsonType.array) return writer
  const agreed = negotiateCompression(
    elementsOf(offered).flatMap((name) => (name.type === BsonType.string ? [name.asString()] : [])),
  )
  if (agreed.length === 0) return writer
  writer.startArray('compression')
  agreed.forEach((name, i) => writer.string(String(i), name))
  return writer.end()
}
