/** `_mergeAuthzCollections`, which mongorestore sends. Server: `user_management_commands.cpp`. */
import { CommandError, findField } from '@shardlab/bson'
import { anyNormalResource, exactResource } from '../privileges/resource.js'
import type { Privileges } from '../privileges/recorded-privileges.js'

export interface MergeArguments {
  /** The namespace of the users to merge. Empty: none. */
  readonly usersFrom: string
  readonly rolesFrom: string
  /** Only users and roles of this database. Empty: all. */
  readonly db: string
  /** Those that exist are replaced, and others of `db` are dropped. */
  readonly drops: boolean
}

/** @param body with valid types @throws CommandError BadValue */
export function parseMergeArguments(body: Uint8Array): MergeArguments {
  const text = (name: string): string => findField(body, name)?.asString() ?? ''
  const [usersFrom, rolesFrom] = [text('tempUsersCollection'), text('tempRolesCollection')]
  if (usersFrom === '' && rolesFrom === '')
    throw new CommandError('BadValue', 'Must provide at least one of "tempUsersCollection" and "tempRolescollection"')
  return { usersFrom, rolesFrom, db: text('db'), drops: findField(body, 'drop')?.isTruthy() === true }
}

/** @throws CommandError Unauthorized */
export function checkMergeAccess(privileges: Privileges, { usersFrom, rolesFrom, drops }: MergeArguments): void {
  const actions = ['createUser', 'createRole', 'grantRole', 'revokeRole', ...(drops ? ['dropUser', 'dropRole'] : [])]
  if (!privileges.allows(anyNormalResource, ...actions))
    throw new CommandError(
      'Unauthorized',
      'Not authorized to update user/role data using _mergeAuthzCollections command',
    )
  for (const ns of [usersFrom, rolesFrom]) {
    const dot = ns.indexOf('.')
    if (ns === '' || privileges.allows(exactResource(ns.slice(0, dot), ns.slice(dot + 1)), 'find')) continue
    throw new CommandError('Unauthorized', `Not authorized to read ${ns}`)
  }
}
