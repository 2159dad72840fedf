import t from 'tap'
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { LiveTurns, type LongWorkGate } from '../src/host/time/live-turns.js'
import { createLongWorkPermits, LongWorkPermits } from '../src/remote/long-work-permits.js'

const permits = Math.max(1, availableParallelism() - 1)

// A worker is kept alive by its ports.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

function threads(): LongWorkPermits[] {
  const shared = createLongWorkPermits()
  return Array.from({ length: permits + 1 }, (_, i) => new LongWorkPermits(shared, i + 1))
}

function twoClients(thread: LongWorkPermits): void {
  thread.noteClient(1)
  thread.noteClient(2)
}

t.test('long work of a single client uses all cores', async (t) => {
  const all = threads()
  t.ok(
    all.every((thread) => thread.enter()),
    'nothing was asked',
  )
  for (const thread of all) thread.leave()
  all[0]!.noteClient(1)
  all[0]!.noteClient(1)
  t.ok(
    all.every((thread) => thread.enter()),
    'further commands of that client do not count',
  )
})

t.test('while several clients send commands, one core stays free of long work', async (t) => {
  const all = threads()
  const last = all.at(-1)!
  twoClients(last)
  for (const thread of all.slice(0, -1)) t.ok(thread.enter())
  t.notOk(last.enter(), 'one thread too many')
  const changed = last.waitForChange()
  all[0]!.leave()
  await changed
  t.ok(last.enter(), 'the next in line')
  t.notOk(all[0]!.enter(), 'who left waits')
  last.leave()
  await all[0]!.waitForChange()
  t.ok(all[0]!.enter(), 'a permit that is free already needs no waiting')
})

t.test('a thread that ends or hangs with a permit blocks no other for long', async (t) => {
  const all = threads()
  const last = all.at(-1)!
  twoClients(last)
  for (const thread of all.slice(0, -1)) thread.enter()
  t.notOk(last.enter())
  last.freeOf(1)
  t.ok(last.enter(), 'the permit of an ended thread is free')
  last.leave()
  t.ok(all[0]!.enter(), 'again occupied')
  twoClients(last)
  t.notOk(last.enter())
  await last.waitForChange()
  t.ok(last.enter(), 'it has waited long enough')
})

t.test('each piece of long work enters and leaves the gate, and replies leave while it waits', async (t) => {
  const events: string[] = []
  let open = (): void => {}
  let isOpen = true
  const gate: LongWorkGate = {
    enter: () => {
      events.push(isOpen ? 'enter' : 'refused')
      return isOpen
    },
    leave: () => events.push('leave'),
    waitForChange: () => new Promise((resolve) => (open = resolve)),
  }
  const turns = new LiveTurns(gate)
  const ended = new Promise<void>((resolve) => {
    turns.nextTurn({ wake: () => events.push('first') })
    turns.nextTurn({
      wake: () => {
        events.push('second')
        isOpen = false
        turns.nextTurn({
          wake: () => {
            events.push('third')
            resolve()
          },
        })
      },
    })
  })
  while (events.at(-1) !== 'refused') await setImmediate()
  const flushed = new Promise<void>((resolve) => turns.atEndOfTurn(resolve))
  await flushed
  t.equal(events.filter((event) => event === 'refused').length, 1, 'it asks again only after a change')
  isOpen = true
  open()
  await ended
  while (events.at(-1) !== 'leave') await setImmediate()
  t.same(events, [
    ...['enter', 'first', 'leave'],
    ...['enter', 'second', 'leave'],
    ...['refused', 'enter', 'third', 'leave'],
  ])
})
