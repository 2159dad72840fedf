import { CommandError } from '@shardlab/bson'
import { listSource } from '../crud/list-source.js'
import { sessionDocuments } from './list-local-sessions.js'
import type { NodeStageSource } from './source.js'

/** Where the server keeps the sessions of a cluster. */
const sessionsCollection = 'config.system.sessions'

export function checkSessionsCollection(ns: string): void {
  if (ns !== sessionsCollection)
    throw new CommandError(
      'InvalidNamespace',
      "$listSessions must be run against the 'system.sessions' collection in the 'config' database.",
    )
}

export const listLocalSessionsSource: NodeStageSource = {
  name: '$listLocalSessions',
  open: ({ invocation: { host }, argument }) => listSource(sessionDocuments(host, '$listLocalSessions', argument)),
}

export const listSessionsSource: NodeStageSource = {
  name: '$listSessions',
  open({ invocation: { host }, ns, argument }) {
    checkSessionsCollection(ns)
    return listSource(sessionDocuments(host, '$listSessions', argument))
  },
}
