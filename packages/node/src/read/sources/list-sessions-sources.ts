import { listSource, sessionDocuments, checkSessionsCollection } from '@shardlab/member'
import type { NodeStageSource } from './source.js'

export const listLocalSessionsSource: NodeStageSource = {
  name: '$listLocalSessions',
  open: ({ invocation: { host, operation }, argument }) =>
    listSource(sessionDocuments(host, '$listLocalSessions', argument, operation.users)),
}

export const listSessionsSource: NodeStageSource = {
  name: '$listSessions',
  open({ invocation: { host, operation }, ns, argument }) {
    checkSessionsCollection(ns)
    return listSource(sessionDocuments(host, '$listSessions', argument, operation.users))
  },
}
