/**
 * Until 4.0 an insert into `system.indexes` goes to every shard that has a part of the collection.
 */
import { CommandError, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { asCreateIndexes, indexesCreated } from '@shardlab/member'
import { createIndexes } from '../commands/create-indexes.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { shownEntry } from './replies/write-error-entry.js'

/** `n` counts an index once for each shard. Server: write_op.cpp, `targetCollection`. */
export async function insertIndex(invocation: MongosInvocation): Promise<DocumentWriter> {
  const inner = asCreateIndexes(invocation)
  const { behaviours, statistics } = invocation.host
  statistics.opcounters.insert++
  try {
    const reply = (await createIndexes.run(inner)).finish()
    return new DocumentWriter(128).int32('n', createdOnShards(reply))
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const { code, message } = error
    const entry = new DocumentWriter(256).int32('code', code).finish()
    return new DocumentWriter(512).int32('n', 0).documents('writeErrors', [shownEntry(0, entry, behaviours, message)])
  }
}

function createdOnShards(reply: Uint8Array): number {
  const raw = findField(reply, 'raw')
  if (raw === undefined) return indexesCreated(reply)
  let created = 0
  for (const it = new FieldIterator(raw.slice()); it.next();) created += indexesCreated(it.value().slice())
  return created
}
