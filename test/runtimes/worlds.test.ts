/**
 * The same actors behave the same on threads, in one thread, under a virtual clock and on hosts of
 * NATS: one script, equal replies.
 */
import t from 'tap'
import { play, type Answer } from './script.js'
import { worlds } from './worlds.js'

const played = new Map<string, readonly Answer[]>()

for (const [name, start] of Object.entries(worlds)) {
  t.test(`the script gets the expected replies, ${name}`, async (t) => {
    const world = await start()
    t.teardown(() => world.stop())
    played.set(name, await play(t, world))
  })
}

t.test('all runtimes give equal replies', async (t) => {
  const reference = played.get('inline')!
  t.ok(reference.length > 70, `${reference.length} replies`)
  for (const name of Object.keys(worlds)) {
    const others = played.get(name)!
    t.same(
      others.map(({ step }) => step),
      reference.map(({ step }) => step),
      `${name}: as many steps`,
    )
    for (const [i, { step, reply }] of reference.entries()) t.equal(others[i]?.reply, reply, `${name}: ${step}`)
  }
})
