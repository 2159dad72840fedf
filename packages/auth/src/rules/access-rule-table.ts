/** Rules of access control that are not the same in all releases. */
import type { Lifetime } from './lifetime.js'

interface AccessRule extends Lifetime {
  /** One sentence: what is true in these releases. */
  readonly about: string
  /** Manual page or server source. */
  readonly source: string
}

export const accessRuleTable = {
  internalCollectionsAreNotNormal: {
    about: 'A privilege on all normal resources does not cover collections of the databases local and config.',
    source: 'reference/built-in-roles, readAnyDatabase, changed in 3.4',
    since: '4.0',
  },
  internalDatabasesAreNotNormal: {
    about: 'A privilege on all normal resources does not cover the databases local and config themselves.',
    source: 'authorization_session_impl.cpp and builtin_roles: userAdminAnyDatabase names both databases since 4.4',
    since: '4.4',
  },
  replsetCollectionsAreNotNormal: {
    about: 'Collections of local whose names begin with replset. are system collections.',
    source: 'namespace_string.h, isNormalCollection; builtin_roles name both collections since 4.4',
    since: '4.4',
  },
  systemBuckets: {
    about: 'Resources may name the buckets of time-series collections by system_buckets.',
    source: 'authorization_session_impl.cpp, new in 5.0',
    since: '5.0',
  },
  generatedParsers: {
    about: 'Commands on users and roles are parsed by generated code, and all named roles are resolved at once.',
    source: 'user_management_commands.idl, new in 5.0',
    since: '5.0',
  },
  resourceConflicts: {
    about: 'Errors about the fields of a resource name the field in conflict, with the code BadValue.',
    source: 'parsed_privilege.idl and privilege.cpp; privilege_parser.cpp before',
    since: '7.0',
  },
  duplicatesHaveOwnCodes: {
    about: 'Users and roles that exist give the codes 51003 and 51002, not DuplicateKey.',
    source: 'user_management_commands.cpp, changed in 4.2 with the fields of DuplicateKey',
    since: '4.4',
  },
  userIds: {
    about: 'User documents have a userId.',
    source: 'reference/command/usersInfo, new in 4.0.9',
    since: '4.0',
  },
  mechanisms: {
    about: 'Users are created for chosen mechanisms, and usersInfo lists them.',
    source: 'reference/command/createUser, new in 4.0',
    since: '4.0',
  },
  authenticationRestrictions: {
    about: 'Users and roles may be restricted to addresses.',
    source: 'reference/command/createUser, new in 3.6',
    since: '4.0',
  },
} as const satisfies Record<string, AccessRule>

export type AccessRuleName = keyof typeof accessRuleTable
