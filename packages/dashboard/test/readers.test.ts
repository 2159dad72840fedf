import t from 'tap'
import { Readers, type Delta } from '../src/index.js'

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

t.test('a reader waits for the next delta, or for its time, and not during some work', async (t) => {
  const { readers } = create()
  const id = readers.open()
  await readers.next(id, 0, 0)
  const waiting = readers.next(id, 1, 60_000)
  readers.push(event(1))
  t.same(numbers(await waiting), [2])
  const released = readers.next(id, 2, 60_000)
  await readers.withoutWaits(async () => {
    t.same(numbers(await released), [])
    t.same(numbers(await readers.next(id, 2, 60_000)), [])
  })
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
