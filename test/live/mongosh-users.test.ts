/** The helpers of mongosh for users and roles, on a replica set and on a cluster. */
import { ShardedCluster } from '@shardlab/cluster'
import type { Document } from 'mongodb'
import t from 'tap'
import { mongoshOn } from '../support/mongosh.js'

/** Runs in the shell and returns the results, or errors, of all steps by name. */
const script = (steps: Readonly<Record<string, string>>): string => `
  const results = {}
  ${Object.entries(steps)
    .map(
      ([name, code]) => `
  try { results[${JSON.stringify(name)}] = ${code} }
  catch (error) { results[${JSON.stringify(name)}] = { code: error.code, error: error.message } }`,
    )
    .join('')}
  print(EJSON.stringify(results))`

const steps = {
  denied: `db.getSiblingDB('shop').rows.findOne()`,
  first: `db.getSiblingDB('admin').createUser({ user: 'root', pwd: 'secret', roles: ['root'] })`,
  wrong: `db.getSiblingDB('admin').auth('root', 'wrong')`,
  auth: `db.getSiblingDB('admin').auth('root', 'secret')`,
  createRole: `db.getSiblingDB('shop').createRole({
    role: 'taker',
    privileges: [{ resource: { db: 'shop', collection: 'rows' }, actions: ['find', 'insert'] }],
    roles: ['read'],
  })`,
  createUser: `db.getSiblingDB('shop').createUser({ user: 'ann', pwd: 'pass', roles: ['taker'], customData: { a: 1 } })`,
  grant: `db.getSiblingDB('shop').grantRolesToUser('ann', ['dbAdmin'])`,
  revoke: `db.getSiblingDB('shop').revokeRolesFromUser('ann', ['dbAdmin'])`,
  password: `db.getSiblingDB('shop').changeUserPassword('ann', 'other')`,
  update: `db.getSiblingDB('shop').updateUser('ann', { customData: { a: 2 }, mechanisms: ['SCRAM-SHA-256'], pwd: 'third' })`,
  updated: `db.getSiblingDB('shop').getUser('ann')`,
  createParent: `db.getSiblingDB('shop').createRole({ role: 'parent', privileges: [], roles: [] })`,
  grantPrivileges: `db.getSiblingDB('shop').grantPrivilegesToRole('parent', [
    { resource: { db: 'shop', collection: 'log' }, actions: ['find', 'remove'] },
  ])`,
  revokePrivileges: `db.getSiblingDB('shop').revokePrivilegesFromRole('parent', [
    { resource: { db: 'shop', collection: 'log' }, actions: ['remove'] },
  ])`,
  grantToRole: `db.getSiblingDB('shop').grantRolesToRole('parent', ['taker', 'read'])`,
  revokeFromRole: `db.getSiblingDB('shop').revokeRolesFromRole('parent', ['read'])`,
  parent: `db.getSiblingDB('shop').getRole('parent', { showPrivileges: true })`,
  updateRole: `db.getSiblingDB('shop').updateRole('parent', { roles: [] })`,
  dropParent: `db.getSiblingDB('shop').dropRole('parent')`,
  restore: `db.getSiblingDB('shop').updateUser('ann', { customData: { a: 1 }, pwd: 'other' })`,
  users: `db.getSiblingDB('shop').getUsers()`,
  user: `db.getSiblingDB('shop').getUser('ann')`,
  role: `db.getSiblingDB('shop').getRole('taker', { showPrivileges: true })`,
  roles: `db.getSiblingDB('shop').getRoles({ showBuiltinRoles: true }).roles.map(({ role }) => role)`,
  status: `db.runCommand({ connectionStatus: 1 }).authInfo.authenticatedUsers`,
  insert: `db.getSiblingDB('shop').rows.insertOne({ _id: 1 }).acknowledged`,
  dropUser: `db.getSiblingDB('shop').dropUser('ann')`,
  dropRole: `db.getSiblingDB('shop').dropRole('taker')`,
  dropAgain: `db.getSiblingDB('shop').dropUser('ann')`,
  createTwo: `['u1', 'u2'].map((user) => db.getSiblingDB('shop').createUser({ user, pwd: 'x', roles: [] }).ok)`,
  dropAllUsers: `db.getSiblingDB('shop').dropAllUsers()`,
  dropAllRoles: `db.getSiblingDB('shop').dropAllRoles()`,
  logout: `db.getSiblingDB('admin').logout()`,
  after: `db.getSiblingDB('shop').rows.findOne()`,
}

const hasShell = mongoshOn('') !== null

for (const topology of ['replica-set', 'sharded'] as const)
  t.test(
    `${topology}: mongosh creates users and roles, and logs in`,
    { timeout: 90_000, ...(hasShell ? {} : { skip: 'mongosh is not installed: npm run clients' }) },
    async (t) => {
      const cluster = await ShardedCluster.start({ topology, runtime: 'inline', auth: true })
      t.teardown(() => cluster.stop())
      const { code, stdout, stderr } = await mongoshOn(cluster.uri)!(script(steps))
      t.equal(code, 0, stderr)
      const results = JSON.parse(stdout) as Record<keyof typeof steps, Document>
      t.match(results.denied, { code: 13 })
      for (const name of [
        ...(['first', 'auth', 'grant', 'revoke', 'password', 'update', 'createParent', 'grantPrivileges'] as const),
        ...(['revokePrivileges', 'grantToRole', 'revokeFromRole', 'updateRole', 'restore', 'logout'] as const),
      ])
        t.equal(Number(results[name]?.['ok']), 1, name)
      t.match(results.wrong, { code: 18 })
      t.match(results.createRole, { ok: 1 })
      t.match(results.createUser, { ok: 1 })
      t.match(results.users, {
        users: [
          { _id: 'shop.ann', user: 'ann', db: 'shop', customData: { a: 1 }, roles: [{ role: 'taker', db: 'shop' }] },
        ],
      })
      t.match(results.user, { _id: 'shop.ann', mechanisms: ['SCRAM-SHA-1', 'SCRAM-SHA-256'] })
      t.match(results.role, {
        role: 'taker',
        isBuiltin: false,
        roles: [{ role: 'read', db: 'shop' }],
        privileges: [{ resource: { db: 'shop', collection: 'rows' }, actions: ['find', 'insert'] }],
      })
      t.strictSame(results.roles, ['dbAdmin', 'dbOwner', 'enableSharding', 'read', 'readWrite', 'userAdmin', 'taker'])
      t.match(results.status, [{ user: 'root', db: 'admin' }])
      t.equal(results.insert, true)
      t.match(results.updated, { customData: { a: 2 }, mechanisms: ['SCRAM-SHA-256'] })
      t.match(results.parent, {
        roles: [{ role: 'taker', db: 'shop' }],
        privileges: [{ resource: { db: 'shop', collection: 'log' }, actions: ['find'] }],
      })
      t.match(results.dropUser, { ok: 1 })
      t.match(results.dropRole, { ok: 1 })
      t.match(results.dropParent, { ok: 1 })
      t.match(results.dropAgain, { code: 11 })
      t.match(results.createTwo, [1, 1])
      t.match(results.dropAllUsers, { n: 2 })
      t.match(results.after, { code: 13 })
      if (topology === 'sharded') return
      const root = cluster.uri.replace('//', '//root:secret@')
      const inside = await mongoshOn(root)!('print(EJSON.stringify(db.runCommand({ connectionStatus: 1 }).authInfo))')
      t.match(JSON.parse(inside.stdout), { authenticatedUsers: [{ user: 'root', db: 'admin' }] })
      const refused = await mongoshOn(root.replace(':secret', ':wrong'))!('1')
      t.not(refused.code, 0)
      t.match(refused.stderr, /Authentication failed/)
    },
  )
