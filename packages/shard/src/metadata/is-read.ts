import type { Entrant } from '@shardlab/node'

/** Does the command only read, so that it may go on while writes wait? */
export function isRead({ host, operation }: Pick<Entrant, 'host' | 'operation'>): boolean {
  return host.table.find(operation.command, host.behaviours)?.access === 'read'
}
