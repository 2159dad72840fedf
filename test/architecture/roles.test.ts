/**
 * What built-in roles may run in 8.0, as the server's tests expect it. Server:
 * jstests/auth/lib/commands_lib.js.
 */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { loadCommandModules } from './model/command-tables.js'
import { examplesOf } from './model/example-commands.js'
import { findRoot, readRepository } from './model/repository.js'
import { mayRun, shownRoles, shownRows } from './roles.js'

const any = 'AnyDatabase'
const read = `read readWrite dbOwner read${any} readWrite${any} backup root`
const readAndStream = `read readWrite dbOwner read${any} readWrite${any} root`
const write = `readWrite dbOwner readWrite${any} root`
const admin = `dbAdmin dbOwner dbAdmin${any} root`
const writeOrAdmin = `readWrite readWrite${any} ${admin}`
const readOrAdmin = `read read${any} ${writeOrAdmin}`
const users = `userAdmin dbOwner userAdmin${any} restore root`
const usersOfAll = `userAdmin${any} restore root`
const monitoring = 'clusterMonitor clusterAdmin root'
const hosts = 'hostManager clusterAdmin root'
const managing = 'clusterManager clusterAdmin root'
const sharding = `enableSharding ${managing}`
const stage = (spec: Document, on: string | 1 = 1): Document => ({ aggregate: on, pipeline: [spec], cursor: {} })

/** Commands on `db`, default shop, with the roles that may run them. */
const expected: readonly (readonly [roles: string, commands: readonly (string | Document)[], db?: string])[] = [
  [read, ['find', 'count', 'distinct', 'dataSize', 'filemd5', 'checkShardingIndex', 'explain']],
  [
    read,
    [
      stage({ $match: {} }, 'orders'),
      stage({ $sample: { size: 1 } }, 'orders'),
      { mapReduce: 'orders', out: { inline: 1 } },
    ],
  ],
  [readAndStream, ['dbHash', stage({ $changeStream: {} }, 'orders'), stage({ $changeStream: {} })]],
  [`read${any} readWrite${any} root`, [stage({ $changeStream: { allChangesForCluster: true } })], 'admin'],
  [readOrAdmin, [stage({ $planCacheStats: {} }, 'orders')]],
  [`${readOrAdmin} backup`, ['listIndexes', stage({ $listSearchIndexes: {} }, 'orders')]],
  [`${readOrAdmin} backup restore`, ['listCollections']],
  [`${readOrAdmin} clusterMonitor clusterAdmin`, ['dbStats']],
  [`${readOrAdmin} clusterMonitor clusterAdmin backup`, ['collStats', stage({ $collStats: {} }, 'orders')]],
  [`${write} restore`, ['insert']],
  [write, ['update', 'delete', 'findAndModify', 'cloneCollectionAsCapped', stage({ $out: 'totals' }, 'orders')]],
  [write, [stage({ $merge: 'totals' }, 'orders'), { mapReduce: 'orders', out: 'totals' }]],
  [`dbOwner root`, [{ ...stage({ $out: 'totals' }, 'orders'), bypassDocumentValidation: true }]],
  [
    `${writeOrAdmin} restore`,
    ['create', 'createIndexes', 'createSearchIndexes', 'updateSearchIndex', 'drop', 'convertToCapped'],
  ],
  [writeOrAdmin, ['dropIndexes', 'dropSearchIndex']],
  [writeOrAdmin, ['renameCollection'], 'admin'],
  [`readWrite${any} root`, [{ renameCollection: 'shop.orders', to: 'other.orders' }], 'admin'],
  [`${admin} restore`, ['collMod', { collMod: 'view', viewOn: 'orders', pipeline: [] }]],
  [`${admin} clusterAdmin`, ['dropDatabase']],
  [
    admin,
    [
      'compact',
      'reIndex',
      'validate',
      'planCacheClear',
      'planCacheClearFilters',
      { profile: 0 },
      { profile: -1, sampleRate: 0.5 },
    ],
  ],
  [`${admin} backup clusterMonitor clusterAdmin`, [{ profile: -1 }]],
  ['root', [{ validate: 'system.users' }], 'admin'],
  [users, ['createUser', 'createRole', { updateUser: 'ann', authenticationRestrictions: [] }]],
  [usersOfAll, [{ updateRole: 'reader', authenticationRestrictions: [] }]],
  [monitoring, ['connPoolStats', 'hostInfo', stage({ $indexStats: {} }, 'orders')]],
  [
    monitoring,
    ['currentOp', 'getCmdLineOpts', 'getLog', 'getShardMap', 'getShardVersion', 'shardingState', 'top'],
    'admin',
  ],
  [monitoring, [stage({ $currentOp: { allUsers: true } }), stage({ $listSampledQueries: {} })], 'admin'],
  [monitoring, [stage({ $shardedDataDistribution: {} }), stage({ $listClusterCatalog: {} })], 'admin'],
  [`${monitoring} backup`, ['serverStatus']],
  [`${monitoring} backup restore`, ['getParameter'], 'admin'],
  [
    `${monitoring} clusterManager`,
    ['getDefaultRWConcern', 'listShards', 'replSetGetConfig', 'replSetGetStatus'],
    'admin',
  ],
  [`${monitoring} clusterManager`, [stage({ $listLocalSessions: { allUsers: true } })], 'config'],
  [`${monitoring} clusterManager`, [stage({ $listSessions: { allUsers: true } }, 'system.sessions')], 'config'],
  [`${monitoring} clusterManager backup`, [{ find: 'changelog' }], 'config'],
  [`${monitoring} backup`, [{ find: 'oplog.rs' }, { find: 'replset.minvalid' }], 'local'],
  [monitoring, [{ dbStats: 1 }], 'local'],
  [
    hosts,
    [
      'fsync',
      'killAllSessions',
      'killAllSessionsByPattern',
      'killOp',
      'logRotate',
      'rotateCertificates',
      'setParameter',
    ],
    'admin',
  ],
  [`${hosts} clusterManager`, ['flushRouterConfig'], 'admin'],
  [
    managing,
    ['addShard', 'addShardToZone', 'cleanupOrphaned', 'clearJumboFlag', 'getClusterParameter', 'mergeChunks'],
    'admin',
  ],
  [
    managing,
    ['moveChunk', 'moveRange', 'movePrimary', 'removeQuerySettings', 'removeShard', 'removeShardFromZone'],
    'admin',
  ],
  [managing, ['replSetFreeze', 'replSetInitiate', 'replSetMaintenance', 'replSetReconfig', 'replSetStepDown'], 'admin'],
  [
    managing,
    ['replSetStepUp', 'replSetSyncFrom', 'setClusterParameter', 'setDefaultRWConcern', 'setQuerySettings'],
    'admin',
  ],
  [managing, ['setFeatureCompatibilityVersion', 'split', 'updateZoneKeyRange', stage({ $querySettings: {} })], 'admin'],
  [managing, ['splitVector', 'checkMetadataConsistency']],
  [
    sharding,
    ['abortMoveCollection', 'abortReshardCollection', 'abortUnshardCollection', 'balancerCollectionStatus'],
    'admin',
  ],
  [sharding, ['cleanupReshardCollection', 'commitReshardCollection', 'enableSharding', 'moveCollection'], 'admin'],
  [sharding, ['refineCollectionShardKey', 'reshardCollection', 'shardCollection', 'unshardCollection'], 'admin'],
  ['restore root', ['applyOps'], 'admin'],
  ['root', [{ applyOps: [{ op: 'u', ns: 'shop.orders', o2: {}, o: {} }] }], 'admin'],
  [`dbAdmin${any} restore root`, [{ applyOps: [{ op: 'c', ns: 'shop.$cmd', o: { create: 'orders' } }] }], 'admin'],
  ['', [{ applyOps: [] }, { getMore: 1, collection: 'orders', term: 1 }], 'admin'],
  [`${managing} restore`, [{ insert: 'changelog', documents: [{}] }], 'config'],
  [managing, [{ update: 'tags', updates: [{ q: { _id: 1 }, u: { _id: 1 } }] }], 'config'],
  ['restore root', [{ insert: 'system.users', documents: [{}] }], 'admin'],
]

/** Every role may run these. */
const forAll: readonly (readonly [commands: readonly (string | Document)[], db: string])[] = [
  [
    [
      'abortTransaction',
      'commitTransaction',
      'listDatabases',
      'refreshSessions',
      'startSession',
      { currentOp: 1, $ownOps: true },
    ],
    'admin',
  ],
  [[stage({ $currentOp: {} }), stage({ $listLocalSessions: {} })], 'admin'],
  [[stage({ $listSessions: {} }, 'system.sessions')], 'config'],
  [
    [
      'buildInfo',
      'connectionStatus',
      'features',
      'isMaster',
      'listCommands',
      'ping',
      'whatsmyuri',
      stage({ $documents: [{}] }),
    ],
    'shop',
  ],
]

t.test('built-in roles may run the commands that the server lets them run, and no others', async (t) => {
  const root = findRoot()
  const rows = shownRows(await loadCommandModules(readRepository(root), root))
  const roles = shownRoles()
  const check = (wanted: readonly string[], commands: readonly (string | Document)[], db: string): void => {
    for (const each of commands) {
      const name = typeof each === 'string' ? each : Object.keys(each)[0]!
      const row = rows.get(name)
      if (row === undefined) throw new Error(`there is no command ${name}`)
      const command = typeof each === 'string' ? examplesOf(row)[0]! : each
      const may = roles.filter((role) => mayRun({ row, db, command }, role, rows)).map(({ role }) => role)
      t.same(may.toSorted(), wanted.toSorted(), JSON.stringify(command))
    }
  }
  for (const [names, commands, db = 'shop'] of expected)
    check([...new Set(names.split(' ').filter((name) => name !== ''))], commands, db)
  for (const [commands, db] of forAll)
    check(
      roles.map(({ role }) => role),
      commands,
      db,
    )
})

t.test('canary: a row whose privileges depend on arguments needs an example', (t) => {
  const row = { name: 'unheardOf', routing: 'local', access: 'none', manual: '', status: 'full', summary: '' } as const
  t.throws(() => examplesOf({ ...row, privileges: () => true }), /privileges of unheardOf depend on its arguments/)
  t.same(examplesOf({ ...row, privileges: [{ on: 'named namespace', actions: ['find'] }] }), [
    { unheardOf: 'shop.orders' },
  ])
  t.end()
})
