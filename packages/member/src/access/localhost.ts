/**
 * The localhost exception. Manual: core/localhost-exception. Server: authorization_session_impl.cpp
 * (_getDefaultPrivileges), host_and_port.cpp (isLocalHost).
 */
import {
  accessOf,
  clusterResource,
  databaseResource,
  privilege,
  PrivilegeSet,
  type AccessRules,
  type CommandAccess,
} from '@shardlab/auth'
import { hostOf } from './authenticate.js'

export function isLocalhost(remote: string): boolean {
  const host = hostOf(remote)
  return host.startsWith('127.') || host === '::1' || host === 'localhost' || host.startsWith('::ffff:127.')
}

const bootstraps = new WeakMap<AccessRules, CommandAccess>()

/** Of a client without user, as long as there are no users. */
export function localhostAccess(rules: AccessRules): CommandAccess {
  let access = bootstraps.get(rules)
  if (access === undefined)
    bootstraps.set(rules, (access = accessOf(new PrivilegeSet(privilegesOf(rules), rules), [], [])))
  return access
}

const privilegesOf = (rules: AccessRules) => [
  privilege(databaseResource('admin'), ['createUser', 'grantRole']),
  privilege(databaseResource('$external'), ['createUser']),
  privilege(clusterResource, [
    'addShard',
    'replSetConfigure',
    'replSetGetStatus',
    ...(rules.has('directOperations') ? ['issueDirectShardOperations'] : []),
  ]),
]
