import type { LogEntry } from '@shardlab/storage'

/** The log adds time and wall clock. */
export type LogChange = Pick<LogEntry, 'op' | 'ns' | 'uuid' | 'object' | 'id' | 'session'>

/** Copies field by field: a spread would cost as much as everything else here. */
export function stamped(
  { op, ns, uuid, object, id, session }: LogChange,
  ts: LogEntry['ts'],
  wallMs: number,
): LogEntry {
  return { ts, op, ns, uuid, object, id, session, wallMs }
}
