/** `_mergeAuthzCollections`, which mongorestore sends. Server: `user_management_commands.cpp`. */
import { CommandError, findField } from '@shardlab/bson'
import { anyNormalResource, exactResource, type Resource } from '../privileges/resource.js'
import type { Privileges } from '../privileges/recorded-privileges.js'
import type { AccessRules } from '../rules/access-rules.js'

export interface MergeArguments {
  /** The namespace of the users to merge. Empty: none. */
  readonly usersFrom: string
  readonly rolesFrom: string
  /** Only users and roles of this database. Empty: all. */
  readonly db: string
  /** Those that exist are replaced, and others of `db` are dropped. */
  readonly drops: boolean
}

/**
 * @param body with valid types
 * @throws CommandError OutdatedClient without `db`, before parsers were generated
 */
export function parseMergeArguments(body: Uint8Array, rules: AccessRules): MergeArguments {
  const text = (name: string): string => findField(body, name)?.asString() ?? ''
  if (!rules.has('generatedParsers') && findField(body, 'db') === undefined)
    throw new CommandError(
      'OutdatedClient',
      'Missing "db" field for _mergeAuthzCollections command. This is most likely due to running an outdated (pre-2.6.4) version of mongorestore.',
    )
  const [usersFrom, rolesFrom] = [text('tempUsersCollection'), text('tempRolesCollection')]
  return { usersFrom, rolesFrom, db: text('db'), drops: findField(body, 'drop')?.isTruthy() === true }
}

/** @throws CommandError BadValue */
export function checkMerge({ usersFrom, rolesFrom }: MergeArguments): void {
  if (usersFrom === '' && rolesFrom === '')
    throw new CommandError('BadValue', 'Must provide at least one of "tempUsersCollection" and "tempRolescollection"')
}

/** @throws CommandError Unauthorized */
export function checkMergeAccess(privileges: Privileges, { usersFrom, rolesFrom, drops }: MergeArguments): void {
  const actions = ['createUser', 'createRole', 'grantRole', 'revokeRole', ...(drops ? ['dropUser', 'dropRole'] : [])]
  if (!privileges.allows(anyNormalResource, ...actions))
    throw new CommandError(
      'Unauthorized',
      'Not authorized to update user/role data using _mergeAuthzCollections command',
    )
  for (const ns of [usersFrom, rolesFrom])
    if (ns !== '' && !privileges.allows(resourceOf(ns), 'find'))
      throw new CommandError('Unauthorized', `Not authorized to read ${ns}`)
}

function resourceOf(ns: string): Resource {
  const dot = ns.indexOf('.')
  return dot < 0 ? exactResource(ns, '') : exactResource(ns.slice(0, dot), ns.slice(dot + 1))
}
