/** Commands that the page of roles asks about, on the collection `shop.orders`. */
import { UUID, type Document } from '@shardlab/bson'
import type { NeededPrivilege } from '@shardlab/actor'
import type { Row } from './command-tables.js'

/** On the database `shop`, or on admin where the command runs only there. */
export type Example = Document

const statement = { q: {}, u: { $set: { paid: true } } }
const pipelineOf = (...pipeline: Document[]): Example => ({ aggregate: 'orders', pipeline, cursor: {} })
const onOrders = [{ resource: { db: 'shop', collection: 'orders' }, actions: ['find'] }]
const reader = [{ role: 'read', db: 'shop' }]
const batch = { nsInfo: [{ ns: 'shop.orders' }] }

/** Of commands whose privileges depend on their arguments. */
const examples: Readonly<Record<string, readonly Example[]>> = {
  _mergeAuthzCollections: [
    {
      _mergeAuthzCollections: 1,
      tempUsersCollection: 'admin.tempusers',
      tempRolesCollection: 'admin.temproles',
      db: '',
    },
    { _mergeAuthzCollections: 1, tempUsersCollection: 'admin.tempusers', db: '', drop: true },
  ],
  addShardToZone: [{ addShardToZone: 'shard01', zone: 'eu' }],
  aggregate: [
    pipelineOf({ $match: {} }),
    pipelineOf({ $out: 'totals' }),
    pipelineOf({ $merge: 'totals' }),
    pipelineOf({ $lookup: { from: 'people', localField: 'a', foreignField: 'b', as: 'c' } }),
    pipelineOf({ $collStats: {} }),
    pipelineOf({ $indexStats: {} }),
    pipelineOf({ $changeStream: {} }),
    pipelineOf({ $planCacheStats: {} }),
  ],
  applyOps: [{ applyOps: [{ op: 'i', ns: 'shop.orders', o: { _id: 1 } }] }],
  balancerStart: [{ balancerStart: 1 }],
  balancerStatus: [{ balancerStatus: 1 }],
  balancerStop: [{ balancerStop: 1 }],
  bulkWrite: [
    { bulkWrite: 1, ops: [{ insert: 0, document: {} }], ...batch },
    { bulkWrite: 1, ops: [{ update: 0, filter: {}, updateMods: {} }], ...batch },
    { bulkWrite: 1, ops: [{ delete: 0, filter: {} }], ...batch },
  ],
  checkMetadataConsistency: [{ checkMetadataConsistency: 1 }, { checkMetadataConsistency: 'orders' }],
  cloneCollectionAsCapped: [{ cloneCollectionAsCapped: 'orders', toCollection: 'copy', size: 1000 }],
  collMod: [{ collMod: 'orders', validationLevel: 'off' }],
  configureCollectionBalancing: [
    { configureCollectionBalancing: 'shop.orders', chunkSize: 1 },
    { configureCollectionBalancing: 'shop.orders', defragmentCollection: true },
  ],
  configureFailPoint: [{ configureFailPoint: 'failCommand', mode: 'off' }],
  create: [{ create: 'orders' }, { create: 'view', viewOn: 'orders', pipeline: [] }],
  createRole: [{ createRole: 'reader', privileges: onOrders, roles: reader }],
  createUser: [{ createUser: 'ann', pwd: 'secret', roles: reader }],
  currentOp: [{ currentOp: 1 }, { currentOp: 1, $ownOps: true }],
  delete: [{ delete: 'orders', deletes: [{ q: {}, limit: 1 }] }],
  dropAllRolesFromDatabase: [{ dropAllRolesFromDatabase: 1 }],
  dropAllUsersFromDatabase: [{ dropAllUsersFromDatabase: 1 }],
  dropRole: [{ dropRole: 'reader' }],
  dropUser: [{ dropUser: 'ann' }],
  explain: [{ explain: { find: 'orders' } }],
  filemd5: [{ filemd5: 1, root: 'fs' }],
  findAndModify: [
    { findAndModify: 'orders', update: {} },
    { findAndModify: 'orders', update: {}, upsert: true },
    { findAndModify: 'orders', remove: true },
  ],
  fsyncUnlock: [{ fsyncUnlock: 1 }],
  getMore: [{ getMore: 1, collection: 'orders' }],
  grantPrivilegesToRole: [{ grantPrivilegesToRole: 'reader', privileges: onOrders }],
  grantRolesToRole: [{ grantRolesToRole: 'reader', roles: reader }],
  grantRolesToUser: [{ grantRolesToUser: 'ann', roles: reader }],
  insert: [{ insert: 'orders', documents: [{}] }],
  invalidateUserCache: [{ invalidateUserCache: 1 }],
  killOp: [{ killOp: 1, op: 1 }],
  listCollections: [{ listCollections: 1 }],
  listDatabases: [{ listDatabases: 1 }],
  listIndexes: [{ listIndexes: 'orders' }],
  mapReduce: [
    { mapReduce: 'orders', out: { inline: 1 } },
    { mapReduce: 'orders', out: 'totals' },
  ],
  profile: [{ profile: -1 }, { profile: 1 }],
  removeShardFromZone: [{ removeShardFromZone: 'shard01', zone: 'eu' }],
  renameCollection: [
    { renameCollection: 'shop.orders', to: 'shop.old' },
    { renameCollection: 'shop.orders', to: 'shop.old', dropTarget: true },
  ],
  revokePrivilegesFromRole: [{ revokePrivilegesFromRole: 'reader', privileges: onOrders }],
  revokeRolesFromRole: [{ revokeRolesFromRole: 'reader', roles: reader }],
  revokeRolesFromUser: [{ revokeRolesFromUser: 'ann', roles: reader }],
  rolesInfo: [{ rolesInfo: 1 }],
  shardlab: [{ shardlab: 'describe' }],
  update: [
    { update: 'orders', updates: [statement] },
    { update: 'orders', updates: [{ ...statement, upsert: true }] },
  ],
  updateRole: [{ updateRole: 'reader', privileges: onOrders }],
  updateUser: [
    { updateUser: 'ann', pwd: 'other' },
    { updateUser: 'ann', roles: reader },
  ],
  updateZoneKeyRange: [{ updateZoneKeyRange: 'shop.orders', min: { a: 0 }, max: { a: 1 }, zone: 'eu' }],
  usersInfo: [{ usersInfo: 1 }, { usersInfo: { forAllDBs: true } }],
  waitForFailPoint: [{ waitForFailPoint: 'failCommand' }],
}

/** Of the collection in examples. */
export const uuidOfOrders = new UUID('00112233-4455-6677-8899-aabbccddeeff')

/** @throws Error for a row whose privileges depend on arguments, without an example of them */
export function examplesOf({ name, privileges }: Row): readonly Example[] {
  const own = examples[name]
  if (own !== undefined) return own
  if (typeof privileges === 'function')
    throw new Error(`privileges of ${name} depend on its arguments: add an example to example-commands.ts`)
  const targets = Array.isArray(privileges) ? (privileges as NeededPrivilege[]).map(({ on }) => on) : []
  if (targets.includes('named namespace')) return [{ [name]: 'shop.orders' }]
  if (targets.includes('named database')) return [{ [name]: 'shop' }]
  return [{ [name]: targets.includes('namespace') ? 'orders' : 1 }]
}
