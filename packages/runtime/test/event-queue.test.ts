import { deepStrictEqual } from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { Chain, type Link } from '../src/host/chain.js'
import { EventQueue } from '../src/host/event-queue.js'

t.test('items come by time, and at the same time as they were pushed; cancelled ones never', async () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ push: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.constant('pop' as const) },
    { weight: 2, arbitrary: fc.record({ cancel: fc.nat() }) },
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 300 }), (actions) => {
      const queue = new EventQueue<number>()
      let model: { time: number; item: number; ticket: number }[] = []
      let lastItem = 0
      const popBoth = () => {
        const expected = model.reduce<(typeof model)[number] | null>(
          (least, entry) => (least === null || entry.time < least.time ? entry : least),
          null,
        )
        if (queue.nextTime() !== (expected?.time ?? Infinity)) return false
        const item = queue.pop()
        model = model.filter((entry) => entry !== expected)
        return item === expected?.item && (expected === null || queue.poppedTime === expected.time)
      }
      for (const step of actions) {
        if (step === 'pop') {
          if (!popBoth()) return false
        } else if ('push' in step) {
          const item = ++lastItem
          model.push({ time: step.push, item, ticket: queue.push(step.push, item) })
        } else if (model.length > 0) {
          const [victim] = model.splice(step.cancel % model.length, 1)
          queue.cancel(victim!.ticket)
        }
        if (queue.size !== model.length) return false
      }
      while (model.length > 0) if (!popBoth()) return false
      return queue.pop() === undefined
    }),
  )
})

t.test('many cancelled items are cleared out', async (test) => {
  const queue = new EventQueue<number>()
  const kept: number[] = []
  for (let round = 0; round < 20; round++) {
    const tickets = Array.from({ length: 1000 }, (_, i) => queue.push(((i * 7919) % 1000) + round, i))
    tickets.forEach((ticket, i) => {
      if (i % 10 !== 0) queue.cancel(ticket)
      else kept.push(((i * 7919) % 1000) + round)
    })
  }
  test.equal(queue.size, 2000)
  const times: number[] = []
  while (queue.size > 0) {
    queue.pop()
    times.push(queue.poppedTime)
  }
  test.same(
    times,
    kept.sort((a, b) => a - b),
  )
})

t.test('a chain keeps the order of a set', async () => {
  interface Item extends Link<Item> {
    readonly id: number
  }
  const action = fc.oneof({ weight: 3, arbitrary: fc.constant('add' as const) }, { weight: 2, arbitrary: fc.nat() })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
      const items: Item[] = []
      const chain = new Chain<Item>()
      const model = new Set<Item>()
      for (const what of actions) {
        if (what === 'add') {
          const item: Item = { id: items.length, previous: null, next: null }
          items.push(item)
          chain.add(item)
          model.add(item)
        } else if (items.length > 0) {
          const item = items[what % items.length]!
          chain.delete(item)
          model.delete(item)
        }
        deepStrictEqual(chain.size, model.size)
      }
      const ids = (all: Iterable<Item>) => Array.from(all, ({ id }) => id)
      deepStrictEqual(ids(chain.takeAll()), ids(model))
      deepStrictEqual(chain.size, 0)
    }),
  )
})
