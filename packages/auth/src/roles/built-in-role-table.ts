/**
 * The roles that every deployment has. Manual: reference/built-in-roles of each version. Server:
 * `role_graph_builtin_roles.cpp` until 4.4, `builtin_roles.cpp` in 5.0, then `builtin_roles.yml`.
 */
import {
  anyNormalResource,
  anyResource,
  bucketsResource,
  clusterResource,
  collectionResource,
  databaseResource,
  exactResource,
  type ResourcePattern,
} from '../privileges/resource.js'
import type { Lifetime } from '../rules/lifetime.js'
import {
  dbAdminActions,
  hostClusterActions,
  managerClusterActions,
  managerNamespaceActions,
  monitorClusterActions,
  monitorNamespaceActions,
  profileActions,
  readActions,
  readAndIndexActions,
  readWriteActions,
  restoreActions,
  shardingActions,
  userAdminActions,
  writeActions,
} from './action-sets.js'

/** `own`: the role's database, or its collection of this name. */
export type GrantTarget = ResourcePattern | { readonly own: string }

export interface Grant extends Lifetime {
  readonly on: GrantTarget
  /** Those that the emulated release lacks are not granted. */
  readonly actions: readonly string[]
}

interface IncludedRole extends Lifetime {
  readonly role: string
  /** Absent: the database of the including role. */
  readonly db?: string
}

export interface BuiltInRole extends Lifetime {
  readonly name: string
  /** Otherwise every database except `$external` has it. */
  readonly isAdminOnly: boolean
  readonly includes: readonly IncludedRole[]
  readonly grants: readonly Grant[]
}

const on = (target: GrantTarget, actions: readonly string[] | string, lifetime: Lifetime = {}): Grant => ({
  on: target,
  actions: typeof actions === 'string' ? actions.split(' ') : actions,
  ...lifetime,
})

const ownDatabase = { own: '' }
const own = (collection: string): GrantTarget => ({ own: collection })
const admin = (collection: string): ResourcePattern => exactResource('admin', collection)
const local = (collection: string): ResourcePattern => exactResource('local', collection)
const allBuckets = bucketsResource('', '')
const config = databaseResource('config')
const localDatabase = databaseResource('local')
const until44 = { until: '4.4' } as const
const since40 = { since: '4.0' } as const
const since44 = { since: '4.4' } as const
const since50 = { since: '5.0' } as const
const since602 = { since: '6.0.2' } as const

const replsetCollections = (actions: readonly string[] | string, lifetime: Lifetime): Grant[] => [
  on(local('replset.election'), actions, lifetime),
  on(local('replset.minvalid'), actions, lifetime),
]

interface RoleOptions extends Lifetime {
  readonly includes?: readonly IncludedRole[]
}

const databaseRole = (name: string, options: RoleOptions, ...grants: Grant[]): BuiltInRole => ({
  name,
  isAdminOnly: false,
  ...options,
  includes: options.includes ?? [],
  grants,
})
const adminRole = (name: string, options: RoleOptions, ...grants: Grant[]): BuiltInRole => ({
  ...databaseRole(name, options, ...grants),
  isAdminOnly: true,
})

const databaseRoles = [
  databaseRole(
    'read',
    {},
    on(ownDatabase, readActions),
    on(own('system.indexes'), readActions, until44),
    on(own('system.js'), readActions),
    on(own('system.namespaces'), readActions, until44),
  ),
  databaseRole(
    'readWrite',
    { includes: [{ role: 'read' }] },
    on(ownDatabase, readWriteActions),
    on(ownDatabase, 'emptycapped', { until: '6.0.2' }),
    on(own('system.js'), readWriteActions),
    on(own('system.js'), 'emptycapped', { until: '6.0.2' }),
  ),
  databaseRole('userAdmin', {}, on(ownDatabase, userAdminActions)),
  databaseRole(
    'dbAdmin',
    {},
    on(ownDatabase, dbAdminActions),
    on(ownDatabase, 'indexStats', { until: '4.0' }),
    on(ownDatabase, 'repairDatabase', until44),
    on(ownDatabase, 'configureQueryAnalyzer'),
    on(own('system.indexes'), readActions, until44),
    on(own('system.namespaces'), readActions, until44),
    on(own('system.profile'), profileActions),
  ),
  databaseRole('dbOwner', { includes: [{ role: 'readWrite' }, { role: 'dbAdmin' }, { role: 'userAdmin' }] }),
  databaseRole('enableSharding', since40, on(anyNormalResource, shardingActions)),
]

const allDatabasesRoles = [
  adminRole(
    'readAnyDatabase',
    {},
    on(anyNormalResource, readActions),
    on(clusterResource, 'listDatabases'),
    on(collectionResource('system.indexes'), readActions, until44),
    on(collectionResource('system.js'), readActions),
    on(collectionResource('system.namespaces'), readActions, until44),
    on(allBuckets, readActions, since50),
  ),
  adminRole(
    'readWriteAnyDatabase',
    { includes: [{ role: 'readAnyDatabase' }] },
    on(anyNormalResource, readWriteActions),
    on(anyNormalResource, 'emptycapped', { until: '6.0.2' }),
    on(collectionResource('system.js'), readWriteActions),
    on(collectionResource('system.js'), 'emptycapped', { until: '6.0.2' }),
    on(allBuckets, readWriteActions, since50),
    on(allBuckets, 'emptycapped', { since: '5.0', until: '6.0.2' }),
  ),
  adminRole(
    'userAdminAnyDatabase',
    {},
    on(anyNormalResource, userAdminActions),
    on(anyNormalResource, 'listCachedAndActiveUsers'),
    on(localDatabase, userAdminActions, since44),
    on(config, userAdminActions, since44),
    on(clusterResource, 'listDatabases authSchemaUpgrade invalidateUserCache'),
    on(clusterResource, 'viewUser', since40),
    on(collectionResource('system.users'), readActions),
    on(admin('system.users'), readAndIndexActions),
    on(admin('system.roles'), readAndIndexActions),
    on(admin('system.version'), readActions),
    on(admin('system.new_users'), readActions, until44),
    on(admin('system.backup_users'), readActions),
  ),
  adminRole(
    'dbAdminAnyDatabase',
    {},
    on(clusterResource, 'listDatabases'),
    on(clusterResource, 'applyOps', since50),
    on(anyNormalResource, dbAdminActions),
    on(anyNormalResource, 'indexStats', { until: '4.0' }),
    on(anyNormalResource, 'repairDatabase', until44),
    on(anyNormalResource, 'configureQueryAnalyzer'),
    on(collectionResource('system.indexes'), readActions, until44),
    on(collectionResource('system.namespaces'), readActions, until44),
    on(collectionResource('system.profile'), [...readActions, 'dropCollection']),
    on(collectionResource('system.profile'), profileActions, since40),
    on(allBuckets, dbAdminActions, since50),
  ),
]

const clusterRoles = [
  adminRole(
    'clusterMonitor',
    {
      includes: [
        { role: 'read', db: 'config' },
        { role: 'read', db: 'local', since: '4.0' },
      ],
    },
    on(clusterResource, monitorClusterActions),
    on(clusterResource, 'checkFreeMonitoringStatus', { until: '8.0' }),
    on(clusterResource, 'listCursors', until44),
    on(anyNormalResource, monitorNamespaceActions),
    on(anyNormalResource, 'indexStats', since40),
    on(config, [...monitorNamespaceActions, 'indexStats'], since40),
    on(localDatabase, [...monitorNamespaceActions, 'indexStats'], since40),
    on(exactResource('config', 'system.sessions'), [...monitorNamespaceActions, 'indexStats'], since602),
    on(local('system.replset'), 'find'),
    ...replsetCollections('find', since44),
    on(collectionResource('system.profile'), 'find'),
  ),
  adminRole(
    'hostManager',
    {},
    on(clusterResource, hostClusterActions),
    on(clusterResource, 'cpuProfiler', until44),
    on(clusterResource, 'compact', { since: '8.0' }),
    on(anyNormalResource, 'killCursors'),
    on(anyNormalResource, 'repairDatabase', until44),
  ),
  adminRole(
    'clusterManager',
    { includes: [{ role: 'read', db: 'config' }] },
    on(clusterResource, managerClusterActions),
    on(clusterResource, 'setFreeMonitoring', { until: '8.0' }),
    on(clusterResource, 'listCursors', until44),
    on(anyNormalResource, managerNamespaceActions),
    on(allBuckets, managerNamespaceActions, since50),
    on(config, managerNamespaceActions, since40),
    on(localDatabase, managerNamespaceActions, since40),
    on(local('system.replset'), readActions),
    on(anyResource, 'dbCheck'),
    on(local('system.healthlog'), readActions, since602),
    on(exactResource('config', 'settings'), writeActions, { until: '4.0' }),
    on(config, writeActions, since40),
    on(localDatabase, writeActions, since40),
    ...replsetCollections(writeActions, since44),
  ),
  adminRole(
    'clusterAdmin',
    { includes: [{ role: 'clusterMonitor' }, { role: 'hostManager' }, { role: 'clusterManager' }] },
    on(anyNormalResource, 'dropDatabase'),
    on(anyResource, 'importCollection exportCollection'),
  ),
  adminRole('directShardOperations', since602, on(clusterResource, 'issueDirectShardOperations')),
]

/** What dumps read. In 2.6 only the role backup has it. */
const dumpGrants = [
  on(anyResource, 'collStats listCollections listIndexes listSearchIndexes'),
  on(anyNormalResource, 'find'),
  on(allBuckets, 'find', since50),
  on(clusterResource, 'getParameter listDatabases useUUID'),
  on(config, 'find', since40),
  on(localDatabase, 'find', since40),
  ...replsetCollections('find', since50),
  on(collectionResource('system.indexes'), 'find', until44),
  on(collectionResource('system.namespaces'), 'find', until44),
  on(collectionResource('system.js'), 'find'),
  on(collectionResource('system.users'), 'find'),
  on(collectionResource('system.profile'), 'find', since40),
  on(admin('system.new_users'), 'find', until44),
  on(admin('system.backup_users'), 'find'),
  on(admin('system.roles'), 'find'),
  on(admin('system.version'), 'find'),
  on(exactResource('config', 'settings'), 'find', since40),
]

const backupRoles = [
  adminRole('__queryableBackup', since40, ...dumpGrants),
  adminRole(
    'backup',
    {},
    ...dumpGrants,
    on(clusterResource, 'appendOplogNote setUserWriteBlockMode'),
    on(clusterResource, 'serverStatus', since50),
    on(exactResource('config', 'settings'), 'insert update', since40),
  ),
  adminRole(
    'restore',
    {},
    on(clusterResource, 'getParameter forceUUID useUUID bypassWriteBlockingMode setUserWriteBlockMode'),
    on(clusterResource, 'applyOps', since602),
    on(anyResource, 'listCollections'),
    on(anyNormalResource, [...restoreActions, ...userAdminActions]),
    on(anyNormalResource, 'convertToCapped', since40),
    on(localDatabase, [...restoreActions, 'convertToCapped'], since40),
    on(config, [...restoreActions, 'convertToCapped'], since40),
    on(allBuckets, [...restoreActions, 'convertToCapped'], since50),
    on(local('system.replset'), [...restoreActions, 'convertToCapped'], since50),
    ...replsetCollections([...restoreActions, 'convertToCapped'], since50),
    on(collectionResource('system.js'), restoreActions),
    on(collectionResource('system.js'), 'convertToCapped', since40),
    on(collectionResource('system.namespaces'), 'find', until44),
    on(admin('tempusers'), 'find'),
    on(admin('temproles'), 'find'),
    on(admin('system.new_users'), restoreActions, until44),
    on(admin('system.new_users'), 'convertToCapped', { since: '4.0', until: '4.4' }),
    on(admin('system.backup_users'), restoreActions),
    on(admin('system.backup_users'), 'convertToCapped', since40),
    on(admin('system.version'), [...restoreActions, 'find']),
    on(admin('system.version'), 'convertToCapped', since40),
    on(collectionResource('system.users'), [...restoreActions, 'find', 'update', 'remove']),
    on(collectionResource('system.users'), 'convertToCapped', since40),
    on(admin('system.roles'), 'createIndex'),
    on(collectionResource('system.views'), 'dropCollection', since602),
  ),
]

const superuserRoles = [
  adminRole(
    'root',
    {
      includes: [
        { role: 'clusterAdmin' },
        { role: 'userAdminAnyDatabase' },
        { role: 'dbAdminAnyDatabase' },
        { role: 'readWriteAnyDatabase' },
        { role: 'backup', since: '4.0' },
        { role: 'restore', since: '4.0' },
        { role: 'directShardOperations', since: '7.0' },
      ],
    },
    on(anyResource, 'validate', since40),
    on(clusterResource, 'useTenant bypassDefaultMaxTimeMS'),
    on(exactResource('config', 'system.preimages'), 'find remove', { since: '7.0' }),
    on(exactResource('config', 'system.change_collection'), 'find insert remove update', { since: '7.0' }),
  ),
  adminRole('__system', {}, on(anyResource, 'anyAction')),
]

export const builtInRoleTable: readonly BuiltInRole[] = [
  ...databaseRoles,
  ...allDatabasesRoles,
  ...clusterRoles,
  ...backupRoles,
  ...superuserRoles,
]
