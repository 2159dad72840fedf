import { checkSessionsCollection, listSource, sessionDocuments } from '@shardlab/member'
import type { MongosStageSource } from './source.js'

export const listLocalSessionsSource: MongosStageSource = {
  name: '$listLocalSessions',
  place: () => 'router',
  open: ({ invocation: { host, operation }, argument }) =>
    listSource(sessionDocuments(host, '$listLocalSessions', argument, operation.users)),
}

/**
 * The server reads a collection to which every member reports its sessions. Here each router lists
 * its own.
 */
export const listSessionsSource: MongosStageSource = {
  name: '$listSessions',
  place: () => 'router',
  open({ invocation: { host, operation }, ns, argument }) {
    checkSessionsCollection(ns)
    return listSource(sessionDocuments(host, '$listSessions', argument, operation.users))
  },
}
