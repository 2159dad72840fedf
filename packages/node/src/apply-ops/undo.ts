import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { LogEntry } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'

/**
 * Applies all changes of `work` or none. The storage has no transactions, so changes are undone by
 * their inverse. No reader sees them, because work on single documents does not give up its turn. A
 * deleted document that is restored becomes the last one of its collection.
 * @throws the errors of `work`
 */
export async function allOrNothing<T>(host: NodeHost, work: () => Promise<T>): Promise<T> {
  const changes: { readonly entry: LogEntry; readonly before: Uint8Array | null }[] = []
  const stop = host.observe((entry, before) => changes.push({ entry, before }))
  try {
    return await work()
  } catch (error) {
    stop()
    for (const { entry, before } of changes.toReversed()) undo(host, entry, before)
    if (!(error instanceof CommandError)) throw error
    await host.flush()
    throw error
  } finally {
    stop()
  }
}

function undo(host: NodeHost, { op, ns, uuid, id }: LogEntry, before: Uint8Array | null): void {
  if (op === 'i')
    host.apply({ op: 'd', ns, uuid, object: new DocumentWriter(64).value('_id', id!).finish(), id, session: null })
  else if (before !== null) host.apply({ op: op === 'd' ? 'i' : 'u', ns, uuid, object: before, id, session: null })
}
