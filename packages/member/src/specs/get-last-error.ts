import { CommandError } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { CommandSpec } from './command-spec.js'

export const getLastErrorSpec = {
  name: 'getLastError',
  aliases: ['getlasterror'],
  access: 'none',
  privileges: 'user',
  manual: 'reference/command/getLastError',
  fields: { w: 'any', j: 'any', fsync: 'any', wtimeout: 'any', wOpTime: 'any', wElectionId: 'any' },
} as const satisfies CommandSpec

/** @throws CommandError 5739000, on routers 5739001, in versions that only know the name */
export function checkLastErrors(host: Pick<MemberHost, 'behaviours' | 'process'>): void {
  if (host.behaviours.lastErrors) return
  throw new CommandError(host.process === 'mongos' ? 5739001 : 5739000, 'getLastError command is not supported')
}
