import { checkSessionsCollection, listSource, sessionDocuments } from '@shardlab/member'
import type { MongosStageSource } from './source.js'

/** Sessions that this router has heard of. */
export const listLocalSessionsSource: MongosStageSource = {
  name: '$listLocalSessions',
  place: () => 'router',
  open: ({ invocation: { host }, argument }) => listSource(sessionDocuments(host, '$listLocalSessions', argument)),
}

/** The server reads a collection in which every member notes its sessions; here each router tells its own. */
export const listSessionsSource: MongosStageSource = {
  name: '$listSessions',
  place: () => 'router',
  open({ invocation: { host }, ns, argument }) {
    checkSessionsCollection(ns)
    return listSource(sessionDocuments(host, '$listSessions', argument))
  },
}
