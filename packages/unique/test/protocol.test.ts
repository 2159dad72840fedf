/** Properties that the schedules of `crashes.test.ts` do not show. */
import t from 'tap'
import {
  parseSpec,
  PortError,
  ReservationLostError,
  UniqueProtocol,
  ValueTakenError,
  type Fields,
  type World,
} from '@shardlab/unique'
import { directPort, Scheduler } from './support/scheduler.js'
import { MemoryCollection } from './support/memory.js'
import { Story } from './support/story.js'

t.test('the _id of a reservation is that of the document or, if it is taken, the attempt', async (t) => {
  const story = new Story('unsharded', ['email', 'handle'])
  const client = story.client()
  await client.insert({ _id: 1, email: 'a', handle: 'x' })
  const [{ collection }] = story.proxies as [Story['proxies'][number]]
  t.match(
    collection.documents,
    [{ _id: 1, email: 'a', handle: 'x', state: 'confirmed' }],
    'one document for all fields, with the _id of the main one',
  )
  await client.update(1, { email: 'b' })
  t.match(collection.documents, [
    { _id: 1, handle: 'x', email: undefined, state: 'confirmed' },
    { _id: /token/, owner: 1, email: 'b', state: 'confirmed' },
  ])
  await client.remove(1)
  t.same(collection.documents, [])
})

t.test('a second missing value is a duplicate unless missing ones are skipped', async (t) => {
  for (const layout of ['sharded', 'unsharded'] as const) {
    const story = new Story(layout, ['email', { fields: 'handle', missing: 'skip' }])
    const client = story.client()
    await client.insert({ _id: 1 })
    await t.rejects(client.insert({ _id: 2 }), { name: 'ValueTakenError', values: [null], owner: 1 })
    await client.insert({ _id: 2, email: 'a' })
    await client.update(2, { handle: 'x' })
    await t.rejects(client.update(1, { handle: 'x' }), ValueTakenError)
    t.same(story.violations(), [])
  }
})

t.test('a new value that the index treats as the old one keeps its reservation', async (t) => {
  const story = new Story('unsharded', [{ fields: 'email', collation: { locale: 'en', strength: 2 } }])
  const client = story.client()
  await client.insert({ _id: 1, email: 'Bob' })
  await client.update(1, { email: 'bob' })
  t.same(story.violations(), [])
  t.equal(story.proxies[0]!.collection.documents.length, 1)
  await t.rejects(client.insert({ _id: 2, email: 'BOB' }), { name: 'ValueTakenError', owner: 1 })
  const { findings } = await client.maintenance.verify()
  t.same(findings, [])
})

t.test('an insert that arrives after its reservation was given to another document is undone', async (t) => {
  const story = new Story('sharded', ['email'])
  const rival = story.client()
  const late = story.client()
  const insert = late.protocol.insert({ _id: 1, email: 'a' }, async () => {
    // The network delays it for longer than the lifetime of the reservation.
    story.expire()
    await rival.insert({ _id: 2, email: 'a' })
    story.main.insertOne({ _id: 1, email: 'a' })
  })
  await t.rejects(insert, { name: ReservationLostError.name, undone: true })
  t.same(story.violations(), [])
  t.same(story.main.documents, [{ _id: 2, email: 'a' }])
})

t.test('an update that arrives too late is reported', async (t) => {
  const story = new Story('sharded', ['email'])
  const rival = story.client()
  await rival.insert({ _id: 1, email: 'a' })
  const update = story.client().protocol.change({
    find: async () => story.main.findOne({ _id: 1 }),
    plan: () => ({ touched: story.specs, after: { email: 'b' } }),
    write: async () => {
      story.expire()
      await rival.insert({ _id: 2, email: 'b' })
      return story.main.updateOne({ _id: 1 }, { $set: { email: 'b' } })
    },
  })
  await t.rejects(update, { name: ReservationLostError.name, undone: false })
  story.expire()
  const { left } = await rival.maintenance.repair()
  t.match(left, [{ kind: 'duplicate', field: 'email', value: 'b' }], 'both documents are listed')
})

t.test('a reservation that was taken over stays, though the answer was lost and the write is refused', async (t) => {
  const scheduler = new Scheduler()
  const main = new MemoryCollection('main', [{ fields: ['_id'], sparse: false }])
  const specs = ['email', 'handle'].map((field) => parseSpec(field))
  const collections = specs.map(({ name, fields }) => new MemoryCollection(name, [{ fields, sparse: false }]))
  let lost = 0
  const proxies = collections.map((collection, i): World['proxies'][number] => {
    const port = directPort(collection)
    const losing: typeof port.updateOne = async (...given) => {
      const matched = await port.updateOne(...given)
      if (lost++ === 0) throw new PortError('unknown', 'the answer is lost')
      return matched
    }
    return { name: collection.name, port: { ...port, updateOne: losing }, specs: [specs[i]!], sharded: true }
  })
  const world: World = {
    ...{ main: directPort(main), proxies, specs, clock: scheduler.directClock(), newToken: () => scheduler.newToken() },
    ...{ reservationMs: 1000, busyMs: 10, tell: () => {}, transactions: null, markers: false },
  }
  const [emails, handles] = collections as [MemoryCollection, MemoryCollection]
  emails.insertOne({ _id: 'other attempt', owner: 2, email: 'v4', state: 'confirmed', attempt: 'other attempt' })
  handles.insertOne({ _id: 3, handle: 'taken', state: 'confirmed', attempt: 'another' })
  main.insertOne({ _id: 2, email: 'v4', handle: 'a' })
  const change = new UniqueProtocol(world).change({
    find: async () => ({ _id: 2, email: 'v5', handle: 'a' }),
    plan: () => ({ touched: specs, after: { email: 'v4', handle: 'taken' } }),
    write: async () => t.fail('it is refused before'),
  } as never)
  await t.rejects(change, { name: 'ValueTakenError', owner: 3 })
  t.match(emails.documents, [{ owner: 2, email: 'v4', state: 'confirmed' }])
})

t.test('a long write renews its reservations', async (t) => {
  const scheduler = new Scheduler()
  const main = new MemoryCollection('main', [{ fields: ['_id'], sparse: false }])
  const proxy = new MemoryCollection('proxy', [{ fields: ['email'], sparse: false }])
  const specs = [parseSpec('email')]
  const timers: (() => void)[] = []
  const world: World = {
    main: directPort(main),
    proxies: [{ name: 'proxy', port: directPort(proxy), specs, sharded: true }],
    specs,
    clock: { ...scheduler.directClock(), after: (_, run) => (timers.push(run), () => {}) },
    newToken: () => scheduler.newToken(),
    reservationMs: 1000,
    busyMs: 10,
    tell: () => {},
    transactions: null,
    markers: false,
  }
  const expiries: number[] = []
  const note = (): unknown => expiries.push((proxy.documents[0]!['expiresAt'] as Date).getTime() - scheduler.nowMs)
  await new UniqueProtocol(world).insert({ _id: 1, email: 'a' }, async () => {
    for (let i = 0; i < 3; i++) {
      scheduler.nowMs += 334
      timers.shift()!()
      for (let j = 0; j < 20; j++) await Promise.resolve()
      note()
    }
    main.insertOne({ _id: 1, email: 'a' })
  })
  t.same(expiries, [1000, 1000, 1000])
  t.match(proxy.documents, [{ state: 'confirmed', expiresAt: undefined }])
})

t.test('a write waits until its reservations have enough time left', async (t) => {
  const story = new Story('sharded', ['email'])
  const [{ collection }] = story.proxies as [Story['proxies'][number]]
  const client = story.client()
  const insertOne = collection.insertOne.bind(collection)
  const updateOne = collection.updateOne.bind(collection)
  let renewals = 0
  collection.insertOne = (document) => {
    insertOne(document)
    story.scheduler.nowMs += 600
  }
  collection.updateOne = (...args) => {
    // The first renewal arrives when its time has already passed.
    if (++renewals === 1) story.scheduler.nowMs += 1100
    return updateOne(...args)
  }
  await client.protocol.insert({ _id: 1, email: 'a' }, async () => {
    const { expiresAt } = collection.documents[0] as { expiresAt: Date }
    t.ok(expiresAt.getTime() - story.scheduler.nowMs >= 500)
    story.main.insertOne({ _id: 1, email: 'a' })
  })
  t.equal(renewals, 3, 'two renewals, one confirmation')
})

t.test('callers get the errors of the driver', async (t) => {
  const story = new Story('sharded', ['email'])
  const cause = new Error('not valid')
  const refused = story.client().protocol.insert({ _id: 1, email: 'a' }, async () => {
    throw new PortError('refused', cause.message, cause)
  })
  t.equal(await refused.catch((error: unknown) => error), cause)
  t.same(story.violations(), [], 'the reservation is taken back')
  const lost = story.client().protocol.insert({ _id: 1, email: 'a' }, async () => {
    throw new PortError('unknown', 'no answer', cause)
  })
  t.match(await lost.catch((error: unknown) => error), { name: 'UnknownOutcomeError', owner: 1, cause })
  t.match(
    story.proxies[0]!.collection.documents,
    [{ state: 'reserved' }],
    'it may have been written: the value stays reserved',
  )
})

t.test('invalid unique fields are refused', (t) => {
  const wrong: [string | Fields, RegExp][] = [
    ['_id', /always unique/],
    ['attempt', /proxy documents use/],
    ['a..b', /not the path/],
    ['$a', /not the path/],
  ]
  for (const [spec, message] of wrong) t.throws(() => parseSpec(spec as string), message)
  t.throws(() => parseSpec({ fields: [] }), /at least one field/)
  t.throws(() => parseSpec({ fields: ['a', 'a.b'] }), /overlap/)
  t.match(parseSpec({ fields: ['a', 'b.c'] }), { name: 'a,b.c', missing: 'reserve', normalize: null, collation: null })
  t.end()
})
