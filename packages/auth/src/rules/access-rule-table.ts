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
  speculation: {
    about: 'hello takes the first message of an authentication.',
    source: 'authentication_commands.cpp, handleIsMasterSpeculativeAuthenticate; new in 4.4',
    since: '4.4',
  },
  skippedExchange: {
    about: 'The option skipEmptyExchange of saslStart ends a login with the reply to the proof.',
    source: 'sasl_scram_server_conversation.cpp, setOptions; new in 4.4',
    since: '4.4',
  },
  parsedPayloads: {
    about: 'The payload of a login is parsed with its command, by SaslPayload.',
    source: 'sasl_payload.cpp, new in 5.0; saslExtractPayload before',
    since: '5.0',
  },
  loginsKeepDatabase: {
    about: 'saslContinue may name another database; the login is that of saslStart.',
    source: 'sasl_commands.cpp, runSaslContinue; compared before 5.0',
    since: '5.0',
  },
  ownDatabases: {
    about: 'Without the action listDatabases, a user lists the databases that its privileges reach into.',
    source: 'list_databases.cpp, changed in 4.0',
    since: '4.0',
  },
  needsUser: {
    about: 'A command of a client without user fails before its privileges are checked.',
    source: 'commands.cpp, checkAuthorizationImplPreParse; new in 4.0',
    since: '4.0',
  },
  needsUserCapital: {
    about: 'The error of a client without user begins with a capital letter.',
    source: 'commands.cpp, changed in 6.3 with ReauthenticationRequired',
    since: '7.0',
  },
  oneUser: {
    about: 'A connection has one user; a login as another one fails.',
    source: 'authorization_session_impl.cpp, addAndAuthorizeUser; one user for each database before 6.0',
    since: '6.0.2',
  },
  mechanismCounters: {
    about: 'An unknown mechanism gets an error of the counters of mechanisms.',
    source: 'counters.cpp, AuthCounter; new in 4.4',
    since: '4.4',
  },
  mechanismUnavailable: {
    about: 'An unknown mechanism gets the code MechanismUnavailable.',
    source: 'counters.cpp, AuthCounter::getMechanismCounter; BadValue before 5.0',
    since: '5.0',
  },
  continuationNeedsStart: {
    about: 'saslContinue after a hello that asked for mechanisms has an error of its own.',
    source: 'authentication_session.cpp, StepGuard; new in 5.0',
    since: '5.0',
  },
  certificateSubjects: {
    about: 'A login by certificate needs the name of a valid certificate before anything else of it is checked.',
    source: 'authentication_commands.cpp, _authenticateX509; the order changed in 5.0',
    since: '5.0',
  },
  anonymousCertificates: {
    about: 'A client without a certificate is a user with an empty name.',
    source: 'authentication_commands.cpp, _authenticateX509, until 4.2',
    until: '4.4',
  },
  authenticateHidesReasons: {
    about: 'The command authenticate gives reasons only for unknown users and protocol errors.',
    source: 'authentication_commands.cpp, CmdAuthenticate::typedRun; new in 7.0',
    since: '7.0',
  },
  directOperations: {
    about: 'The localhost exception includes operations on shards without a router.',
    source: 'authorization_session_impl.cpp, _getDefaultPrivileges; new in 7.0',
    since: '7.0',
  },
  cacheNamedForMissingKey: {
    about: 'The error about a cluster time with an unknown key begins with the name of a cache.',
    source: 'keys_collection_cache.cpp, getKeyById; keys_collection_manager.cpp since 5.0',
    until: '5.0',
  },
  authenticationRestrictions: {
    about: 'Users and roles may be restricted to addresses.',
    source: 'reference/command/createUser, new in 3.6',
    since: '4.0',
  },
} as const satisfies Record<string, AccessRule>

export type AccessRuleName = keyof typeof accessRuleTable
