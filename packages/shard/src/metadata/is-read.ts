import type { Entrant } from '@shardlab/node'

/** Whether the command only reads: a critical section that blocks writes does not block it. */
export function isRead({ host, operation }: Pick<Entrant, 'host' | 'operation'>): boolean {
  return host.table.find(operation.command, host.behaviours)?.access === 'read'
}
