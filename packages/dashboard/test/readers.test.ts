import t from 'tap'
import { chunkDeltas, Readers, type Delta } from '../src/index.js'

const event = (atMs: number): Delta => ({
  ...{ type: 'event' },
  event: { type: 'limit', atMs, member: 'shard01', limit: 'l', value: 1 },
})
const ready: Delta = { type: 'ready' }

function create(options: { readonly queueMax?: number; readonly leaseMs?: number } = {}) {
  const counts = { abandoned: 0, overflowed: 0 }
  let id = 0
  const readers = new Readers({
    snapshot: () => [ready],
    abandoned: () => counts.abandoned++,
    overflowed: () => counts.overflowed++,
    newId: () => `r${++id}`,
    readersMax: 2,
    ...options,
  })
  t.teardown(() => ['r1', 'r2'].forEach((each) => readers.close(each)))
  return { readers, counts }
}

const numbers = ({ deltas }: { deltas: readonly { readonly number: number }[] }) => deltas.map(({ number }) => number)

t.test('a repeated request gets the same deltas, and an acknowledged one is dropped', async (t) => {
  const { readers } = create()
  const id = readers.open()
  readers.push(event(1))
  const first = await readers.next(id, 0, 0)
  t.same(numbers(first), [1, 2])
  t.same(await readers.next(id, 0, 0), first)
  readers.push(event(2))
  t.same(numbers(await readers.next(id, 1, 0)), [2, 3])
  t.same(numbers(await readers.next(id, 3, 0)), [])
  await t.rejects(readers.next(id, 2, 0), { message: /the reader r1 has deltas after 3, up to 3/ })
  await t.rejects(readers.next(id, 4, 0), { message: /after is 4/ })
  await t.rejects(readers.next('r9', 0, 0), { message: /there is no reader r9/ })
})

t.test('a reader waits for the next delta, or for its time, or until all are woken', async (t) => {
  const { readers } = create()
  // The timer of a wait does not keep a process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const id = readers.open()
  await readers.next(id, 0, 0)
  const waiting = readers.next(id, 1, 60_000)
  readers.push(event(1))
  t.same(numbers(await waiting), [2])
  const released = readers.next(id, 2, 60_000)
  readers.wakeAll()
  t.same(numbers(await released), [])
  const replaced = readers.next(id, 2, 60_000)
  const newer = readers.next(id, 2, 60_000)
  t.same(numbers(await replaced), [])
  readers.close(id)
  t.same(numbers(await newer), [])
  const other = readers.open()
  await readers.next(other, 0, 0)
  t.same(numbers(await readers.next(other, 1, 1)), [])
})

t.test('a reader that is too slow gets a snapshot after a gap, in place of what it missed', async (t) => {
  const { readers, counts } = create({ queueMax: 3 })
  const id = readers.open()
  t.same(numbers(await readers.next(id, 0, 0)), [1])
  for (let i = 0; i < 3; i++) readers.push(event(i))
  t.equal(counts.overflowed, 1)
  const { deltas } = await readers.next(id, 1, 0)
  t.match(deltas, [{ number: 4, type: 'ready' }])
})

t.test('a delta about an overflow comes after the one that caused it, once, to every reader', async (t) => {
  const pushed: Delta[] = []
  const push = (delta: Delta): void => {
    pushed.push(delta)
    readers.push(delta)
  }
  let overflows = 0
  let id = 0
  const readers = new Readers({
    snapshot: () => [ready, ...pushed],
    abandoned: () => {},
    overflowed: () => push(event(1000 + overflows++)),
    newId: () => `r${++id}`,
    queueMax: 4,
  })
  const [slow, quick] = [readers.open(), readers.open()]
  t.teardown(() => readers.closeAll())
  const received: number[] = []
  const read = async (reader: string, after: number): Promise<number> => {
    const { deltas } = await readers.next(reader, after, 0)
    for (const delta of deltas) if (delta.type === 'event') received.push(delta.event.atMs)
    return deltas.at(-1)?.number ?? after
  }
  let after = await read(quick, 0)
  for (let i = 0; i < 6; i++) {
    push(event(i))
    after = await read(quick, after)
  }
  t.same(received, [0, 1, 2, 3, 1000, 4, 5])
  received.length = 0
  await read(slow, 0)
  t.same(received, [0, 1, 2, 3, 1000, 4, 5])
})

t.test('a snapshot that is larger than the limit of a queue does not overflow it at once', async (t) => {
  let overflows = 0
  const pushed: Delta[] = [1, 2, 3, 4, 5].map((atMs) => event(atMs))
  const push = (delta: Delta): void => {
    pushed.push(delta)
    readers.push(delta)
  }
  const readers = new Readers({
    snapshot: () => pushed,
    abandoned: () => {},
    overflowed: () => push(event(1000 + overflows++)),
    newId: () => 'r1',
    queueMax: 3,
  })
  readers.open()
  t.teardown(() => readers.closeAll())
  for (let i = 0; i < 5; i++) push(event(i))
  t.equal(overflows, 0)
  push(event(6))
  t.equal(overflows, 1)
})

t.test('a batch has some 3 MB, whatever the length of its deltas', async (t) => {
  const long = (length: number, i: number): Delta => ({
    ...{ type: 'chunks', ns: 'a.b', from: String(i), to: null },
    chunks: [{ key: String(i), min: 'x'.repeat(length), shard: 'shard01' }],
  })
  const all = [...Array.from({ length: 100 }, (_, i) => long(500_000, i)), ...Array.from({ length: 9 }, () => event(1))]
  const readers = new Readers({
    ...{ snapshot: () => all, abandoned: () => {}, overflowed: () => {}, newId: () => 'r1' },
  })
  const id = readers.open()
  t.teardown(() => readers.closeAll())
  let count = 0
  for (let batch = await readers.next(id, 0, 0); batch.deltas.length > 0; batch = await readers.next(id, count, 0)) {
    count += batch.deltas.length
    const { length } = JSON.stringify(batch.deltas)
    t.ok(length < 3_100_000, `${length}`)
    t.ok(length > 2_000_000 || count === all.length, 'it is not smaller than necessary')
  }
  t.equal(count, all.length)
  const chunks = Array.from({ length: 50 }, (_, i) => long(100_000, i)).flatMap((each) =>
    each.type === 'chunks' ? each.chunks : [],
  )
  const deltas = [...chunkDeltas('a.b', chunks)]
  t.ok(deltas.every((each) => JSON.stringify(each).length < 1_100_000))
  t.same(
    deltas.flatMap((each) => each.chunks),
    chunks,
  )
})

t.test('a reader that does not ask is closed, and with the last one the recording ends', async (t) => {
  let close = () => {}
  const closed = new Promise<void>((resolve) => (close = resolve))
  const readers = new Readers({
    ...{ snapshot: () => [ready], abandoned: () => close(), overflowed: () => {}, newId: () => 'r1' },
    leaseMs: 1,
  })
  readers.open()
  t.equal(readers.count, 1)
  // The timer of a lease does not keep a process alive.
  const alive = setInterval(() => {}, 1000)
  await closed
  clearInterval(alive)
  t.equal(readers.count, 0)
})

t.test('the number of readers has a limit', async (t) => {
  const { readers, counts } = create()
  const first = readers.open()
  readers.open()
  t.throws(() => readers.open(), { message: /has 2 readers, which is the limit/ })
  readers.close(first)
  t.equal(counts.abandoned, 0)
})
