import type { LogEntry } from '@shardlab/storage'

/** The parts of an entry that its writer chooses; time and wall clock are added. */
export type LogChange = Pick<LogEntry, 'op' | 'ns' | 'uuid' | 'object' | 'id' | 'session'>

/** Field by field: spreading the change costs as much as all else that happens to it here. */
export function stamped(
  { op, ns, uuid, object, id, session }: LogChange,
  ts: LogEntry['ts'],
  wallMs: number,
): LogEntry {
  return { ts, op, ns, uuid, object, id, session, wallMs }
}
