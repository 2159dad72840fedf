import { isGenericArgument, type CommandArguments, type CommandRow } from '@shardlab/actor'
import { DocumentWriter, FieldIterator } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { currentOperations, currentOpSpec, shownOwners } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

const parameters: ReadonlySet<string> = new Set(['$all', '$ownOps', '$truncateOps'])

/** The fields of the command that are not its arguments. */
function currentOpFilter(body: Uint8Array): Uint8Array {
  const filter = new DocumentWriter(256)
  const it = new FieldIterator(body)
  for (it.next(); it.next();) {
    const name = it.name()
    if (!parameters.has(name) && !isGenericArgument(name)) filter.value(name, it.value())
  }
  return filter.finish()
}

function currentOpCommandOptions(args: CommandArguments): {
  idleConnections: boolean
  idleCursors: boolean
  idleSessions: boolean
  truncateOps: boolean
} {
  return {
    idleConnections: args.bool('$all') ?? false,
    idleCursors: false,
    idleSessions: true,
    truncateOps: args.bool('$truncateOps') ?? true,
  }
}

export const currentOp: CommandRow<NodeInvocation> = {
  ...currentOpSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D702', 'D705', 'D721'],
  summary: 'Lists running operations.',
  run(invocation) {
    const { args, body, host, routed } = invocation
    const filter = compileFilter(currentOpFilter(body), host.evaluation())
    const operations = currentOperations(
      host,
      currentOpCommandOptions(args),
      [],
      routed === null ? null : host.role.memberName,
      shownOwners(invocation, args.bool('$ownOps') !== true),
    ).filter((operation) => filter.matches(operation))
    const writer = new DocumentWriter(2048).documents('inprog', operations)
    if (host.writeLock.held === null) return writer
    return writer
      .bool('fsyncLock', true)
      .string('info', 'use db.fsyncUnlock() to terminate the fsync write/snapshot lock')
  },
}
