import type { LogEntry } from '@shardlab/storage'

/** The log adds time, term and wall clock. */
export interface LogChange extends Pick<
  LogEntry,
  'op' | 'ns' | 'uuid' | 'object' | 'id' | 'session' | 'o2' | 'fromMigrate'
> {
  /** Default: null. */
  readonly difference?: LogEntry['difference']
}

/** Copies field by field: a spread would cost as much as everything else here. */
export function stamped(
  { op, ns, uuid, object, id, session, difference = null, o2, fromMigrate }: LogChange,
  ts: LogEntry['ts'],
  term: number,
  wallMs: number,
): LogEntry {
  return { ts, term, op, ns, uuid, object, id, session, wallMs, difference, o2, fromMigrate }
}
