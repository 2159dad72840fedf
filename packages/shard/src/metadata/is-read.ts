import type { NodeInvocation } from '@shardlab/node'

/** Does the command only read, so that it may go on while writes wait? */
export function isRead({ host, operation }: Pick<NodeInvocation, 'host' | 'operation'>): boolean {
  return host.table.find(operation.command, host.behaviours)?.access === 'read'
}
