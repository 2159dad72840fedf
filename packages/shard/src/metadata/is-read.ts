import type { Entrant } from '@shardlab/node'

/** Critical sections that block only writes admit reads. */
export function isRead({ host, operation }: Pick<Entrant, 'host' | 'operation'>): boolean {
  return host.table.find(operation.command, host.behaviours)?.access === 'read'
}
