import { UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const admin = { db: 'admin' }

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
