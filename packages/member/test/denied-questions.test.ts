/** For each function that answers for a command: what a client may not do, and what it may. */
import type { CommandPrivileges } from '@shardlab/actor'
import { Decimal128, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import * as administration from '../src/access/administration-privileges.js'
import * as applyOps from '../src/access/apply-ops-privileges.js'
import * as definitions from '../src/access/definition-privileges.js'
import * as needs from '../src/access/needs.js'
import * as pipelines from '../src/access/pipeline-privileges.js'
import * as users from '../src/access/user-privileges.js'
import * as writes from '../src/access/write-privileges.js'
import { memberRows } from '../src/member-rows.js'
import { answerTo, secretUuid, type Asked } from './support/asked.js'

interface Answers extends Omit<Asked, 'by' | 'body'> {
  readonly by: CommandPrivileges
  readonly denied: readonly Document[]
  readonly allowed: readonly Document[]
}

const { controlEmulation } = needs
const stage = (...pipeline: Document[]): Document => ({ aggregate: 'rows', pipeline, cursor: {} })
const on = (db: string) => [{ resource: { db, collection: '' }, actions: ['find'] }]
const role = (db: string) => [{ role: 'read', db }]
const statement = { q: {}, u: {} }

/** By the name under which its module exports the function. */
const table: Readonly<Record<string, Answers>> = {
  explainPrivileges: {
    by: administration.explainPrivileges,
    may: { 'shop.rows': ['find', 'update'] },
    sequences: [['updates', [encode(statement)]]],
    denied: [
      { explain: { find: 'secrets' } },
      { explain: { update: 'rows', updates: [{ ...statement, upsert: true }] } },
    ],
    allowed: [{ explain: { find: 'rows' } }, { explain: { update: 'rows', updates: [statement] } }],
  },
  profilePrivileges: {
    by: administration.profilePrivileges,
    may: { 'shop.system.profile': ['find'] },
    denied: [{ profile: 0 }, { profile: -1.5 }, { profile: Decimal128.fromString('0') }, { profile: -1, slowms: null }],
    allowed: [{ profile: -1 }],
  },
  currentOpPrivileges: {
    by: administration.currentOpPrivileges,
    denied: [{ currentOp: 1 }, { currentOp: 1, $ownOps: 0 }],
    allowed: [{ currentOp: 1, $ownOps: true }],
  },
  getMorePrivileges: {
    by: administration.getMorePrivileges,
    denied: [{ getMore: 1, term: null }],
    allowed: [{ getMore: 1 }],
  },
  checkMetadataConsistencyPrivileges: {
    by: administration.checkMetadataConsistencyPrivileges,
    may: { 'shop.rows': ['checkMetadataConsistency'] },
    denied: [{ checkMetadataConsistency: 1 }, { checkMetadataConsistency: 'secrets' }],
    allowed: [{ checkMetadataConsistency: 'rows' }],
  },
  zonePrivileges: {
    by: administration.zonePrivileges(['shards', 'find'], ['tags', 'find', 'update']),
    may: { 'config.shards': ['find'], 'config.tags': ['find'] },
    denied: [{ updateZoneKeyRange: 'shop.rows' }],
    allowed: [],
  },
  onConfigSettings: {
    by: administration.onConfigSettings('update'),
    may: { 'config.settings': ['find'] },
    denied: [{ balancerStop: 1 }],
    allowed: [],
  },
  configureBalancingPrivileges: {
    by: administration.configureBalancingPrivileges,
    may: { 'shop.rows': ['splitChunk'] },
    denied: [
      { configureCollectionBalancing: 'shop.rows', defragmentCollection: 1 },
      { configureCollectionBalancing: 'shop.rows', enableBalancing: false },
      { configureCollectionBalancing: 'shop.secrets' },
    ],
    allowed: [{ configureCollectionBalancing: 'shop.rows', chunkSize: 1 }],
  },
  killOpPrivileges: {
    by: administration.killOpPrivileges,
    isRouter: true,
    denied: [
      { killOp: 1, op: 0.5 },
      { killOp: 1, op: Decimal128.fromString('1') },
      { killOp: 1, op: 'shard01:1' },
    ],
    allowed: [],
  },
  applyOpsPrivileges: {
    by: applyOps.applyOpsPrivileges,
    db: 'admin',
    may: { cluster: ['applyOps', 'useUUID'], 'shop.rows': ['insert', 'update'] },
    denied: [
      { applyOps: [] },
      { applyOps: [{ op: 'ix', ns: 'shop.rows', o: {} }] },
      { applyOps: [{ op: 'd', ns: 'shop.rows', o: {} }] },
      { applyOps: [{ op: 'i', ns: 'shop.rows', o: {}, ui: secretUuid }] },
      { applyOps: [{ op: 'n', ns: '', o: {} }] },
    ],
    allowed: [{ applyOps: [{ op: 'u', ns: 'shop.rows', o: {}, o2: {} }] }],
  },
  createPrivileges: {
    by: definitions.createPrivileges,
    may: { 'shop.view': ['createCollection', 'find'], 'shop.rows': ['find'] },
    denied: [
      { create: 'view', viewOn: 'secrets' },
      { create: 'view', viewOn: 'rows', pipeline: [{ $unionWith: 'secrets' }] },
      { create: 'view', capped: 1, size: 1000 },
      { create: 'rows' },
    ],
    allowed: [{ create: 'view', viewOn: 'rows', pipeline: [] }, { create: 'view' }],
  },
  collModPrivileges: {
    by: definitions.collModPrivileges,
    may: { 'shop.view': ['collMod', 'find'] },
    denied: [{ collMod: 'view', viewOn: 'secrets', pipeline: [] }, { collMod: 'rows' }],
    allowed: [{ collMod: 'view' }],
  },
  renameCollectionPrivileges: {
    by: definitions.renameCollectionPrivileges,
    db: 'admin',
    may: { 'shop.rows': ['find', 'dropCollection'], 'shop.old': ['find', 'insert', 'createIndex'] },
    denied: [
      { renameCollection: 'shop.rows', to: 'shop.old', dropTarget: 1 },
      { renameCollection: 'shop.rows', to: 'shop.old', dropTarget: secretUuid },
      { renameCollection: 'shop.rows', to: 'other.old' },
      { renameCollection: 'shop.old', to: 'shop.rows' },
    ],
    allowed: [{ renameCollection: 'shop.rows', to: 'shop.old' }],
  },
  cloneCollectionAsCappedPrivileges: {
    by: definitions.cloneCollectionAsCappedPrivileges,
    may: { 'shop.rows': ['find'], 'shop.copy': ['insert', 'createIndex', 'convertToCapped'] },
    denied: [{ cloneCollectionAsCapped: 'rows', toCollection: 'secrets' }],
    allowed: [{ cloneCollectionAsCapped: 'rows', toCollection: 'copy' }],
  },
  listCollectionsPrivileges: {
    by: definitions.listCollectionsPrivileges,
    may: { 'shop.rows': ['find'] },
    denied: [
      { listCollections: 1, nameOnly: true },
      { listCollections: 1, nameOnly: 0, authorizedCollections: true },
    ],
    allowed: [{ listCollections: 1, nameOnly: true, authorizedCollections: true }],
  },
  listIndexesPrivileges: {
    by: definitions.listIndexesPrivileges,
    may: { 'shop.rows': ['listIndexes'] },
    denied: [{ listIndexes: 'secrets' }],
    allowed: [{ listIndexes: 'rows' }],
  },
  listDatabasesPrivileges: {
    by: definitions.listDatabasesPrivileges,
    version: '2.6',
    denied: [{ listDatabases: 1 }],
    allowed: [],
  },
  fileMd5Privileges: {
    by: definitions.fileMd5Privileges,
    may: { 'shop.fs.chunks': ['find'] },
    denied: [{ filemd5: 1, root: 'secrets' }],
    allowed: [{ filemd5: 1 }],
  },
  mapReducePrivileges: {
    by: definitions.mapReducePrivileges,
    may: { 'shop.rows': ['find'], 'shop.out': ['insert', 'remove'] },
    denied: [
      { mapReduce: 'rows', out: { replace: 'out', db: 'other' } },
      { mapReduce: 'rows', out: { merge: 'out' } },
      { mapReduce: 'secrets', out: 'out' },
    ],
    allowed: [{ mapReduce: 'rows', out: 'out' }],
  },
  aggregatePrivileges: {
    by: pipelines.aggregatePrivileges,
    may: { 'shop.rows': ['find'] },
    denied: [
      stage({ $lookup: { from: 'secrets', pipeline: [], as: 'a' } }),
      stage({ $facet: { a: [{ $unionWith: { coll: 'secrets' } }] } }),
      stage({ $out: 'rows' }),
      stage({ $collStats: {} }),
      { aggregate: 1, pipeline: [], cursor: {} },
    ],
    allowed: [stage({ $match: {} })],
  },
  insertPrivileges: {
    by: writes.insertPrivileges,
    version: '2.6',
    may: { 'shop.rows': ['insert', 'createIndex'], 'shop.system.indexes': ['insert'] },
    denied: [
      { insert: 'system.indexes', documents: [{ ns: 'shop.rows' }, { ns: 'shop.secrets' }] },
      { insert: 'system.indexes', documents: [{ ns: 1 }] },
    ],
    allowed: [{ insert: 'system.indexes', documents: [{ ns: 'shop.rows' }] }],
  },
  updatePrivileges: {
    by: writes.updatePrivileges,
    may: { 'shop.rows': ['update'] },
    denied: [
      { update: 'rows', updates: [statement, { ...statement, upsert: 1 }] },
      { update: 'rows', updates: [statement], bypassDocumentValidation: true },
    ],
    allowed: [{ update: 'rows', updates: [{ ...statement, upsert: 0 }] }],
  },
  deletePrivileges: {
    by: writes.deletePrivileges,
    may: { 'shop.rows': ['remove'] },
    denied: [{ delete: 'secrets', deletes: [] }],
    allowed: [{ delete: 'rows', deletes: [] }],
  },
  findAndModifyPrivileges: {
    by: writes.findAndModifyPrivileges,
    may: { 'shop.rows': ['find', 'update'] },
    denied: [
      { findAndModify: 'rows', remove: 1 },
      { findAndModify: 'rows', update: {}, upsert: 1 },
    ],
    allowed: [{ findAndModify: 'rows', update: {} }],
  },
  bulkWritePrivileges: {
    by: writes.bulkWritePrivileges,
    db: 'admin',
    may: { 'shop.rows': ['insert'] },
    denied: [
      { bulkWrite: 1, ops: [{ insert: 0.5, document: {} }], nsInfo: [{ ns: 'shop.secrets' }] },
      { bulkWrite: 1, ops: [{ delete: 0, filter: {} }], nsInfo: [{ ns: 'shop.rows' }] },
    ],
    allowed: [{ bulkWrite: 1, ops: [{ insert: 0.5, document: {} }], nsInfo: [{ ns: 'shop.rows' }] }],
  },
  createUserPrivileges: {
    by: users.createUserPrivileges,
    may: { shop: ['createUser'] },
    denied: [{ createUser: 'ann', pwd: 'x', roles: ['read'] }],
    allowed: [{ createUser: 'ann', pwd: 'x', roles: [] }],
  },
  updateUserPrivileges: {
    by: users.updateUserPrivileges,
    may: { shop: ['changePassword'] },
    denied: [
      { updateUser: 'ann', pwd: 'x', customData: {} },
      { updateUser: 'ann', roles: [] },
    ],
    allowed: [{ updateUser: 'ann', pwd: 'x' }],
  },
  dropUserPrivileges: {
    by: users.dropUserPrivileges,
    db: 'other',
    may: { shop: ['dropUser'] },
    denied: [{ dropUser: 'ann' }],
    allowed: [],
  },
  dropRolePrivileges: {
    by: users.dropRolePrivileges,
    db: 'other',
    may: { shop: ['dropRole'] },
    denied: [{ dropRole: 'reader' }],
    allowed: [],
  },
  grantRolesToUserPrivileges: {
    by: users.grantRolesToUserPrivileges,
    may: { shop: ['grantRole'] },
    denied: [{ grantRolesToUser: 'ann', roles: ['read', ...role('other')] }],
    allowed: [{ grantRolesToUser: 'ann', roles: ['read'] }],
  },
  revokeRolesFromUserPrivileges: {
    by: users.revokeRolesFromUserPrivileges,
    may: { shop: ['revokeRole'] },
    denied: [{ revokeRolesFromUser: 'ann', roles: ['read', ...role('other')] }],
    allowed: [{ revokeRolesFromUser: 'ann', roles: ['read'] }],
  },
  createRolePrivileges: {
    by: users.createRolePrivileges,
    may: { shop: ['createRole', 'grantRole'] },
    denied: [
      { createRole: 'reader', privileges: on('other'), roles: [] },
      { createRole: 'reader', privileges: [], roles: role('other') },
    ],
    allowed: [{ createRole: 'reader', privileges: on('shop'), roles: role('shop') }],
  },
  updateRolePrivileges: {
    by: users.updateRolePrivileges,
    may: { shop: ['grantRole'] },
    denied: [{ updateRole: 'reader', privileges: on('shop') }],
    allowed: [],
  },
  grantPrivilegesToRolePrivileges: {
    by: users.grantPrivilegesToRolePrivileges,
    may: { shop: ['grantRole'] },
    denied: [{ grantPrivilegesToRole: 'reader', privileges: [...on('shop'), ...on('other')] }],
    allowed: [{ grantPrivilegesToRole: 'reader', privileges: on('shop') }],
  },
  revokePrivilegesFromRolePrivileges: {
    by: users.revokePrivilegesFromRolePrivileges,
    may: { shop: ['revokeRole'] },
    denied: [{ revokePrivilegesFromRole: 'reader', privileges: [...on('shop'), ...on('other')] }],
    allowed: [{ revokePrivilegesFromRole: 'reader', privileges: on('shop') }],
  },
  grantRolesToRolePrivileges: {
    by: users.grantRolesToRolePrivileges,
    may: { shop: ['grantRole'] },
    denied: [{ grantRolesToRole: 'reader', roles: role('other') }],
    allowed: [{ grantRolesToRole: 'reader', roles: role('shop') }],
  },
  revokeRolesFromRolePrivileges: {
    by: users.revokeRolesFromRolePrivileges,
    may: { shop: ['revokeRole'] },
    denied: [{ revokeRolesFromRole: 'reader', roles: role('other') }],
    allowed: [{ revokeRolesFromRole: 'reader', roles: role('shop') }],
  },
  mergePrivileges: {
    by: users.mergePrivileges,
    may: { any: ['createUser', 'createRole', 'grantRole', 'revokeRole'], 'admin.tempusers': ['find'] },
    denied: [
      { _mergeAuthzCollections: 1, tempUsersCollection: 'admin.tempusers', drop: true },
      { _mergeAuthzCollections: 1, tempUsersCollection: 'shop.secrets' },
      { _mergeAuthzCollections: 1, tempUsersCollection: 'admin.tempusers', tempRolesCollection: 'admin.temproles' },
    ],
    allowed: [{ _mergeAuthzCollections: 1, tempUsersCollection: 'admin.tempusers' }],
  },
  usersInfoPrivileges: {
    by: users.usersInfoPrivileges,
    may: { shop: ['viewUser'] },
    denied: [{ usersInfo: { forAllDBs: true } }, { usersInfo: ['ann', { user: 'ann', db: 'other' }] }],
    allowed: [{ usersInfo: 1 }],
  },
  rolesInfoPrivileges: {
    by: users.rolesInfoPrivileges,
    may: { shop: ['viewRole'] },
    denied: [{ rolesInfo: ['read', { role: 'read', db: 'other' }] }],
    allowed: [{ rolesInfo: 'read' }],
  },
  invalidateUserCachePrivileges: {
    by: users.invalidateUserCachePrivileges,
    may: { shop: ['invalidateUserCache'] },
    denied: [{ invalidateUserCache: 1 }],
    allowed: [],
  },
  controlEmulation: { by: controlEmulation, may: { cluster: ['inprog'] }, denied: [{ shardlab: 1 }], allowed: [] },
}

for (const [name, { denied, allowed, ...asked }] of Object.entries(table))
  t.test(name, (t) => {
    for (const body of denied) t.equal(answerTo({ ...asked, body }), false, `denied: ${JSON.stringify(body)}`)
    for (const body of allowed) t.equal(answerTo({ ...asked, body }), true, `allowed: ${JSON.stringify(body)}`)
    t.end()
  })

t.test('2.6 has no actions for lists: their collections are read', (t) => {
  const ask = (by: CommandPrivileges, body: Document, may: Record<string, readonly string[]>) =>
    answerTo({ by, body, may, version: '2.6' })
  const [collections, indexes] = [definitions.listCollectionsPrivileges, definitions.listIndexesPrivileges]
  t.equal(ask(collections, { listCollections: 1 }, { 'shop.rows': ['find'] }), false)
  t.equal(ask(collections, { listCollections: 1 }, { 'shop.system.namespaces': ['find'] }), true)
  t.equal(ask(indexes, { listIndexes: 'rows' }, { 'shop.rows': ['find'] }), false)
  t.equal(ask(indexes, { listIndexes: 'rows' }, { 'shop.system.indexes': ['find'] }), true)
  t.end()
})

t.test('every function of a row has a denied question', (t) => {
  const helpers = ['allowsViewPipeline', 'documentsIn']
  const exported = [administration, applyOps, definitions, pipelines, users, writes, { controlEmulation }].flatMap(
    (module) => Object.entries(module).filter(([, value]) => typeof value === 'function'),
  )
  const names = exported.map(([name]) => name).filter((name) => !helpers.includes(name))
  t.same(names.sort(), Object.keys(table).sort())
  const known = new Set<unknown>(exported.map(([, value]) => value))
  for (const { name, privileges } of memberRows)
    t.ok(typeof privileges !== 'function' || known.has(privileges), `${name} has a function of these modules`)
  t.end()
})
