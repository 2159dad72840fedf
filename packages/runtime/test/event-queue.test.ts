import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { IntrusiveList, type ListNode } from '../src/host/intrusive-list.js'
import { EventQueue, type Queued } from '../src/host/time/event-queue.js'

class Item implements Queued<Item> {
  group = -1
  previous: Item | null = null
  next: Item | null = null
  readonly time: number

  constructor(time: number) {
    this.time = time
  }
}

t.test('items are popped by time and then in the order of pushing, cancelled ones never', async () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ push: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.constantFrom('pop' as const, 'instant' as const) },
    { weight: 2, arbitrary: fc.record({ cancel: fc.nat() }) },
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 300 }), (actions) => {
      const queue = new EventQueue<Item>()
      let model: Item[] = []
      const push = (time: number) => {
        const item = new Item(time)
        model.push(item)
        queue.push(time, item)
      }
      const popBoth = (pop: () => Item | undefined) => {
        const expected = model.reduce<Item | undefined>(
          (least, item) => (least === undefined || item.time < least.time ? item : least),
          undefined,
        )
        deepStrictEqual(queue.nextTime(), expected?.time ?? Infinity)
        strictEqual(pop(), expected)
        model = model.filter((item) => item !== expected)
        if (expected !== undefined) deepStrictEqual(queue.poppedTime, expected.time)
      }
      for (const step of actions) {
        if (step === 'pop') popBoth(() => queue.pop())
        else if (step === 'instant') {
          const [time, mark] = [queue.nextTime(), queue.mark()]
          const due = model.filter((item) => item.time === time)
          if (due.length === 0) continue
          push(time)
          for (const _ of due) popBoth(() => queue.popDueAt(time, mark))
          strictEqual(queue.popDueAt(time, mark), undefined, 'items after the mark wait')
        } else if ('push' in step) push(step.push)
        else if (model.length > 0) {
          const [victim] = model.splice(step.cancel % model.length, 1)
          queue.cancel(victim!)
          queue.cancel(victim!)
        }
        deepStrictEqual(queue.size, model.length)
      }
      while (model.length > 0) popBoth(() => queue.pop())
      strictEqual(queue.pop(), undefined)
    }),
  )
})

t.test('cancelled items are removed once they outnumber the others', async (test) => {
  const queue = new EventQueue<Item>()
  const kept: number[] = []
  for (let round = 0; round < 20; round++) {
    const items = Array.from({ length: 1000 }, (_, i) => new Item(((i * 7919) % 1000) + round / 20))
    for (const item of items) queue.push(item.time, item)
    items.forEach((item, i) => {
      if (i % 10 !== 0) queue.cancel(item)
      else kept.push(item.time)
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

t.test('an item is popped although all earlier ones of its time were cancelled and removed', async (test) => {
  const queue = new EventQueue<Item>()
  const items = Array.from({ length: 2000 }, (_, time) => new Item(time))
  for (const item of items) queue.push(item.time, item)
  for (const item of items.toReversed()) queue.cancel(item)
  const last = items.slice(-4)
  for (const item of last) queue.push(item.time, item)
  test.equal(queue.size, last.length)
  test.same(
    last.map(() => queue.pop()?.time),
    last.map(({ time }) => time),
  )
  test.equal(queue.pop(), undefined)
})

t.test('an intrusive list keeps the order of a set', async () => {
  interface Item extends ListNode<Item> {
    readonly id: number
  }
  const action = fc.oneof({ weight: 3, arbitrary: fc.constant('add' as const) }, { weight: 2, arbitrary: fc.nat() })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
      const items: Item[] = []
      const chain = new IntrusiveList<Item>()
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
