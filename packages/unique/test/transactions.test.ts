import t from 'tap'
import { Story } from './support/story.js'

for (const layout of ['sharded', 'unsharded'] as const) {
  t.test(`${layout} proxies: reservations and documents are committed together`, async (t) => {
    const story = new Story(layout, ['email', 'handle'])
    const client = story.transactingClient(false)
    await client.insert({ _id: 1, email: 'a', handle: 'x' })
    t.same(story.events, [], 'nothing is reserved before')
    t.ok(story.proxies.every(({ collection }) => collection.documents.every(({ state }) => state === 'confirmed')))
    await t.rejects(client.insert({ _id: 2, email: 'b', handle: 'x' }), {
      name: 'ValueTakenError',
      values: ['x'],
      owner: 1,
    })
    t.same(story.violations(), [], 'nothing of it is left')
    await client.update(1, { email: 'b' })
    await client.insert({ _id: 2, email: 'a', handle: 'y' })
    await t.rejects(client.update(2, { email: 'b' }), { name: 'ValueTakenError', owner: 1 })
    t.equal(await client.remove(1), true)
    t.equal(await client.remove(1), false)
    await client.update(2, { email: 'b', handle: 'x' })
    t.same(story.violations(), [])
    t.equal(story.main.documents.length, 1)
  })

  t.test(`${layout} proxies: reservations of writers without transactions are respected`, async (t) => {
    const story = new Story(layout, ['email'])
    const client = story.transactingClient(false)
    const [{ collection }] = story.proxies as [Story['proxies'][number]]
    const reservation = {
      _id: 7,
      email: 'a',
      state: 'reserved',
      attempt: 'x',
      expiresAt: new Date(story.scheduler.nowMs + 500),
    }
    collection.insertOne(reservation)
    await t.rejects(client.insert({ _id: 1, email: 'a' }), { name: 'ValueTakenError', owner: 7, until: Date })
    story.expire()
    await client.insert({ _id: 1, email: 'a' })
    t.same(story.violations(), [], 'what has expired is decided first')
    collection.updateOne(
      { email: { $eq: 'a' } },
      { $set: { state: 'reserved', expiresAt: new Date(story.scheduler.nowMs + 500) } },
    )
    await t.rejects(
      client.update(1, { email: 'b' }),
      { name: 'BusyDocumentError', owner: 1 },
      'another write is changing this document',
    )
    story.expire()
    await client.update(1, { email: 'b' })
    t.same(story.violations(), [])
  })

  t.test(`${layout} proxies: a deployment without transactions is asked only once`, async (t) => {
    const story = new Story(layout, ['email'])
    const client = story.transactingClient(true)
    await client.insert({ _id: 1, email: 'a' })
    await client.update(1, { email: 'b' })
    await client.remove(1)
    t.equal(client.transactions(), 1)
    t.same(
      story.events.map(({ event }) => event),
      ['reserved', 'confirmed', 'reserved', 'confirmed', 'released', 'released'],
    )
    t.same(story.violations(), [])
  })
}
