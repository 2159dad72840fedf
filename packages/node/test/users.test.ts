import { UUID, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const admin = { db: 'admin' }

/** With the smallest number of rounds for each hash that the version allows. */
async function withCheapPasswords(version: EmulatedVersion): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  for (const name of ['scramIterationCount', 'scramSHA256IterationCount'])
    await node.run({ setParameter: 1, [name]: 5000 }, admin)
  return node
}

t.test('a process that had a user or a role does not forget it before it restarts', async (t) => {
  const node = new NodeUnderTest()
  t.equal(node.node.users.hasAny(), false)
  await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
  await node.ok({ dropUser: 'root' }, admin)
  t.equal(node.node.users.hasAny(), true)
  await node.stepDown()
  await node.stepUp()
  t.equal(node.node.users.hasAny(), true, 'after an election')
  const restarted = node.restarted()
  t.equal(restarted.node.users.hasAny(), false)
  await restarted.ok({ createRole: 'reader', privileges: [], roles: [] }, admin)
  await restarted.ok({ dropRole: 'reader' }, admin)
  t.equal(restarted.node.users.hasAny(), true)
})

t.test('the database of the users cannot be dropped since 4.0', async (t) => {
  for (const version of ['2.6', '4.0', '8.0'] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
    const isRefused = version !== '2.6'
    const refused = { code: 20, errmsg: "Dropping the 'admin' database is prohibited." }
    t.match(await node.run({ dropDatabase: 1 }, admin), isRefused ? refused : { ok: 1 })
    t.equal(((await node.ok({ usersInfo: 1 }, admin))['users'] as unknown[]).length, isRefused ? 1 : 0)
    if (!isRefused) continue
    const applyOps = [{ op: 'c', ns: 'admin.$cmd', o: { dropDatabase: 1 } }]
    t.match(await node.run({ applyOps }, admin), { ok: 0 }, version)
    t.equal(((await node.ok({ usersInfo: 1 }, admin))['users'] as unknown[]).length, 1)
  }
})

t.test('D915 no collection takes the place of users, roles, views or functions', async (t) => {
  for (const version of ['2.6', '4.0', '8.0'] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'rows', documents: [{ _id: 1 }] }, admin)
    for (const name of ['system.users', 'system.roles', 'system.views', 'system.js'])
      t.match(
        await node.run({ renameCollection: 'admin.rows', to: `admin.${name}`, dropTarget: true }, admin),
        { code: 20, errmsg: `renaming ${name} collection or renaming to ${name} is not allowed` },
        version,
      )
    await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
    t.match(await node.run({ renameCollection: 'admin.system.users', to: 'admin.other' }, admin), { code: 20 }, version)
    t.match(await node.run({ renameCollection: 'admin.system.users', to: 'shop.other' }, admin), { code: 20 }, version)
  }
})

t.test('applyOps gives no collection the name of the users', async (t) => {
  const node = new NodeUnderTest({ version: '6.0' })
  await node.ok({ create: 'rows' }, admin)
  const ui = node.node.collection('admin.rows')!.uuid
  const create = { op: 'c', ns: 'admin.$cmd', ui: new UUID(Buffer.from(ui)), o: { create: 'system.users' } }
  t.match(await node.run({ applyOps: [create] }, admin), { ok: 0, code: 20 })
  await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
  t.match(await node.run({ applyOps: [create] }, admin), { ok: 0, code: 20 })
})

t.test('D916 a field twice is refused, also if one of them is null', async (t) => {
  const node = new NodeUnderTest()
  const pipeline: Document[] = []
  t.match(await node.renamed({ create: 'view', viewOn: 'secrets', viewOx: null, pipeline }, 'viewOx', 'viewOn'), {
    code: 40413,
    errmsg: "BSON field 'create.viewOn' is a duplicate field",
  })
  t.match(await node.renamed({ create: 'view', viewOx: null, viewOn: 'secrets', pipeline }, 'viewOx', 'viewOn'), {
    code: 40413,
  })
})

t.test('until 4.4 fields that a command on users does not know are refused', async (t) => {
  const restrictions = { authenticationRestrictions: [{ clientSource: ['10.0.0.0/8'] }] }
  const refused = async (version: EmulatedVersion, command: Document, field: string): Promise<void> => {
    const node = await withCheapPasswords(version)
    const [name] = Object.keys(command)
    t.match(await node.run(command, admin), {
      ...{ ok: 0, code: 2, errmsg: `"${field}" is not a valid argument to ${name!}` },
    })
    t.same((await node.ok({ usersInfo: 1 }, admin))['users'], [], `${version}: no user was made`)
  }
  const user = { createUser: 'ann', pwd: 'x', roles: [] }
  for (const version of ['2.6', '4.0', '4.4'] as const) {
    await refused(version, { ...user, foo: 1 }, 'foo')
    await refused(version, { dropRole: 'reader', force: true }, 'force')
    await refused(version, { usersInfo: 1, showCustomData: false }, 'showCustomData')
  }
  await refused('2.6', { ...user, ...restrictions }, 'authenticationRestrictions')
  await refused('2.6', { ...user, mechanisms: ['SCRAM-SHA-1'] }, 'mechanisms')
  await refused('2.6', { usersInfo: 1, filter: {} }, 'filter')
  const node = await withCheapPasswords('4.0')
  await node.ok({ ...user, ...restrictions, mechanisms: ['SCRAM-SHA-1'] }, admin)
})

t.test('users and roles are merged from other collections', async (t) => {
  for (const version of ['2.6', '4.0', '8.0'] as const) {
    const from = await withCheapPasswords(version)
    for (const db of ['admin', 'shop']) {
      await from.ok({ createRole: 'reader', privileges: [], roles: ['read'] }, { db })
      await from.ok({ createUser: 'ann', pwd: 'new', roles: ['reader'] }, { db })
    }
    const stored = async (node: NodeUnderTest, name: string): Promise<Document[]> =>
      ((await node.ok({ find: name, sort: { _id: 1 } }, admin))['cursor'] as Document)['firstBatch']
    const [users, roles] = [await stored(from, 'system.users'), await stored(from, 'system.roles')]
    /** With an old ann of admin, and bob. */
    const create = async (): Promise<NodeUnderTest> => {
      const node = await withCheapPasswords(version)
      await node.ok({ createUser: 'ann', pwd: 'old', roles: [] }, admin)
      await node.ok({ createUser: 'bob', pwd: 'old', roles: [] }, { db: 'shop' })
      await node.ok({ createRole: 'writer', privileges: [], roles: [] }, admin)
      await node.ok({ insert: 'tempusers', documents: users }, admin)
      await node.ok({ insert: 'temproles', documents: roles }, admin)
      return node
    }
    const merge = {
      ...{ _mergeAuthzCollections: 1, tempUsersCollection: 'admin.tempusers', db: '' },
      tempRolesCollection: 'admin.temproles',
    }
    const names = async (node: NodeUnderTest): Promise<string[]> =>
      [...(await stored(node, 'system.users')), ...(await stored(node, 'system.roles'))].map(({ _id }) => _id as string)

    const added = await create()
    await added.ok({ ...merge, drop: false }, admin)
    t.same(
      await names(added),
      ['admin.ann', 'shop.ann', 'shop.bob', 'admin.reader', 'admin.writer', 'shop.reader'],
      version,
    )
    const [ann, ofShop] = await stored(added, 'system.users')
    t.same(ann!['roles'], [], 'a user that exists stays as it is')
    t.same(ofShop, users[1], 'another one is the same as in the other collection')

    const replaced = await create()
    await replaced.ok({ ...merge, drop: true }, admin)
    t.same(await names(replaced), ['admin.ann', 'shop.ann', 'admin.reader', 'shop.reader'], version)
    t.same(await stored(replaced, 'system.users'), users)

    const ofOne = await create()
    await ofOne.ok({ ...merge, db: 'shop', drop: true }, admin)
    t.same(await names(ofOne), ['admin.ann', 'shop.ann', 'admin.writer', 'shop.reader'], version)

    t.match(await ofOne.run({ _mergeAuthzCollections: 1, db: '', drop: true }, admin), {
      ...{ ok: 0, code: 2 },
      errmsg: 'Must provide at least one of "tempUsersCollection" and "tempRolescollection"',
    })
    const { db: _, ...withoutDb } = merge
    t.match(
      await ofOne.run(withoutDb, admin),
      version === '8.0' ? { ok: 1 } : { code: 101, errmsg: /^Missing "db" field/ },
    )

    const wrong = await create()
    const [first] = users
    const documents = [
      { ...first, _id: 1, user: 'eve' },
      { ...first, _id: 2, user: 'eve', roles: [] },
      { _id: 3, user: 'zoe' },
    ]
    await wrong.ok({ insert: 'tempusers', documents }, admin)
    t.match(await wrong.run(merge, admin), { code: 4, errmsg: 'Missing expected field "db"' })
    const eve = (await stored(wrong, 'system.users')).find(({ user }) => user === 'eve')
    t.same(eve!['roles'], first!['roles'], 'those before it are merged, and the first one of a name counts')
  }
})
