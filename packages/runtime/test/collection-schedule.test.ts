import t from 'tap'
import { CollectionSchedule, type Due, type ThreadLoad } from '../src/threads/collection-schedule.js'

const mb = 1024 * 1024
const start = 20 * mb

class Thread {
  readonly schedule: CollectionSchedule
  atMs = 100_000
  usedHeapBytes = 30 * mb
  externalBytes = 10 * mb

  constructor(whenBusy = true, growthBytesMin = 16 * mb) {
    this.schedule = new CollectionSchedule({ growthBytesMin, whenBusy, startBytes: start })
  }

  get load(): ThreadLoad {
    const { atMs, usedHeapBytes, externalBytes } = this
    return { atMs, activeMs: 0, utilization: 0, usedHeapBytes, externalBytes, heldBytes: usedHeapBytes + externalBytes }
  }

  /** One second, of which the thread works this share. */
  second(utilization: number): Due {
    this.atMs += 1000
    const load = { ...this.load, activeMs: utilization * 1000, utilization }
    this.schedule.observe(load)
    return this.schedule.due(load)
  }

  /** @returns what was due in each of these seconds without work */
  rest(seconds: number): Due[] {
    return Array.from({ length: seconds }, () => this.second(0))
  }

  collected(leftBytes: number): void {
    const before = this.load
    this.schedule.collectedIdle(before, { heldBytes: leftBytes, externalBytes: 0 })
  }
}

t.test('a thread between two requests keeps its optimized code', async (t) => {
  const thread = new Thread()
  for (let round = 0; round < 10; round++) {
    t.equal(thread.second(0.5), 'no')
    t.same(new Set(thread.rest(25)), new Set(['no']), 'clients probably come again')
  }
  for (let i = 0; i < 100; i++) t.equal(thread.second(0.03), 'no', 'a request now and then is work')
})

t.test('a thread that has rested collects once it has grown', async (t) => {
  const thread = new Thread()
  thread.second(0.5)
  t.same(thread.rest(31), [...Array<Due>(29).fill('no'), 'idle', 'idle'])
  const small = new Thread()
  small.usedHeapBytes = 20 * mb
  small.second(0.5)
  t.same(new Set(small.rest(200)), new Set(['no']), 'it has hardly grown')
})

t.test('collections that free little become rarer, until there is work again', async (t) => {
  const thread = new Thread()
  thread.second(0.5)
  thread.rest(30)
  const waits: number[] = []
  for (let i = 0; i < 7; i++) {
    thread.collected(thread.load.heldBytes)
    let seconds = 0
    for (let due: Due = 'no'; due === 'no'; seconds++) due = thread.second(0)
    waits.push(seconds)
  }
  t.same(waits, [8, 16, 32, 64, 64, 64, 64])
  thread.second(0.5)
  t.equal(thread.rest(30).at(-1), 'idle')
  thread.collected(start)
  t.same(thread.rest(4), ['no', 'no', 'no', 'idle'])
})

t.test('much memory that was released is collected at once', async (t) => {
  const thread = new Thread()
  thread.second(0.5)
  thread.schedule.released(15 * mb)
  t.equal(thread.second(0), 'no')
  thread.schedule.released(mb)
  t.equal(thread.second(0), 'idle')
  t.equal(thread.second(0.9), 'busy')
  t.equal(new Thread(false).second(0.9), 'no', 'unless it is left alone while it works')
})

t.test('a busy thread collects when the memory outside of its heap has grown', async (t) => {
  const thread = new Thread()
  t.equal(thread.second(0.9), 'no')
  thread.externalBytes += 32 * mb
  t.equal(thread.second(0.9), 'no')
  thread.externalBytes += 1
  t.equal(thread.second(0.9), 'busyIfStays')
  thread.schedule.collectedBusy(100 * mb)
  thread.externalBytes = 150 * mb
  t.equal(thread.second(0.9), 'no', 'by less than half')
  thread.externalBytes += 1
  t.equal(thread.second(0.9), 'busyIfStays')
  thread.usedHeapBytes = 65 * mb
  t.equal(thread.second(0.9), 'no', 'a large heap is left to the engine')
})

t.test('a large heap is not collected while clients would notice', async (t) => {
  const thread = new Thread()
  thread.usedHeapBytes = 49 * mb
  thread.schedule.released(16 * mb)
  t.equal(thread.second(0.01), 'busy')
  t.equal(thread.second(0), 'idle')
})

t.test('a check after work reports that the thread is idle', async (t) => {
  const { schedule, load } = new Thread()
  const idle = (activeMs: number, utilization: number): boolean => schedule.observe({ ...load, activeMs, utilization })
  t.equal(idle(50, 0.05), false, 'too little work')
  t.equal(idle(500, 0.5), false, 'it works')
  t.equal(idle(0, 0), true)
})
