import type { Entrant } from '@shardlab/node'

/**
 * Critical sections that block only writes admit reads. An aggregate with $out or $merge is one,
 * too: it enters only the collections that it reads, and routers write its results by commands that
 * have versions of their own. Server: the lock of the collection decides.
 */
export function isRead({ host, operation }: Pick<Entrant, 'host' | 'operation'>): boolean {
  return host.table.find(operation.command, host.behaviours)?.access === 'read'
}
