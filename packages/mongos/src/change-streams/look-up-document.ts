/** `fullDocument: 'updateLookup'`. Server: document_source_change_stream_add_post_image.cpp. */
import { CommandArguments, timestampPair } from '@shardlab/actor'
import { DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { aggregateSpec } from '@shardlab/member'
import type { OpenStream } from '../aggregation/foreign-reads.js'
import type { MongosInvocation } from '../host/mongos-host.js'

/** @returns the event with `fullDocument`, which is null if the document is gone */
export async function lookUpDocument(
  event: Uint8Array,
  invocation: MongosInvocation,
  openAggregate: OpenStream,
): Promise<Uint8Array> {
  if (findField(event, 'operationType')?.asString() !== 'update') return event
  const document = await findNow(event, invocation, openAggregate)
  const writer = new DocumentWriter(event.length + (document?.length ?? 0) + 32)
  for (const it = new FieldIterator(event); it.next();) {
    // The position that the server gives it.
    if (it.name() === 'ns') {
      if (document === null) writer.null('fullDocument')
      else writer.document('fullDocument', document)
    }
    writer.value(it.name(), it.value())
  }
  return writer.finish()
}

/** As a majority has it, at the time of the event or later. */
async function findNow(
  event: Uint8Array,
  invocation: MongosInvocation,
  openAggregate: OpenStream,
): Promise<Uint8Array | null> {
  const ns = findField(event, 'ns')!.slice()
  const db = findField(ns, 'db')!.asName()
  const clusterTime = timestampPair(findField(event, 'clusterTime')!)
  const documentKey = findField(event, 'documentKey')!.slice()
  const body = new DocumentWriter(512)
    .string('aggregate', findField(ns, 'coll')!.asName())
    .documents('pipeline', [new DocumentWriter(documentKey.length + 32).document('$match', documentKey).finish()])
    .startDocument('cursor')
    .end()
    .startDocument('readConcern')
    .string('level', 'majority')
    .timestamp('afterClusterTime', ...clusterTime)
    .end()
    .string('$db', db)
    .finish()
  const reading: MongosInvocation = {
    ...invocation,
    concerns: { read: { level: 'majority', afterClusterTime: clusterTime, atClusterTime: null }, write: null },
    db,
    body,
    args: CommandArguments.parse(body, aggregateSpec.fields),
    sequences: [],
    session: null,
  }
  const stream = await openAggregate(reading)
  try {
    for (;;) {
      const document = stream.take()
      if (document !== null) return new Uint8Array(document)
      if (stream.done) return null
      await stream.fill(reading)
    }
  } finally {
    stream.kill(invocation.host)
  }
}
