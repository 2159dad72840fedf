import { EventEmitter } from 'node:events'
import t from 'tap'
import type { WebSocket } from 'ws'
import { Readers, type Delta } from '../src/index.js'
import type { DashboardTarget } from '../src/server/index.js'
import { servePage } from '../src/server/page-session.js'

/** A page that has gone, if it is not OPEN. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  readonly sent: object[] = []

  send(text: string, done: () => void): void {
    this.sent.push(JSON.parse(text))
    done()
  }

  /** Resolves when the session has answered. */
  async ask(message: object): Promise<object | undefined> {
    this.emit('message', Buffer.from(JSON.stringify(message)))
    await new Promise(setImmediate)
    return this.sent.at(-1)
  }

  close(): void {
    this.readyState = 3
    this.emit('close')
  }
}

/** Users of pages that have gone. */
const ended: (string | null)[] = []

const ready: Delta = { type: 'ready' }

function create(open: (readers: Readers) => Promise<string>): {
  readonly readers: Readers
  readonly target: DashboardTarget
} {
  const readers = new Readers({
    ...{ snapshot: () => [ready], abandoned: () => {}, overflowed: () => {}, newId: () => 'r1' },
  })
  t.teardown(() => readers.closeAll())
  return {
    readers,
    target: {
      ...{ faultForms: [], needsLogin: false },
      enter: async (login) => {
        if (login !== null && login.password !== 'secret') throw new Error('Authentication failed.')
        return {
          open: async () => readers.next(await open(readers), 0, 0),
          next: (reader, after, waitMs) => readers.next(reader, after, waitMs),
          close: async (reader) => readers.close(reader),
          control: async (verb) => ({ verb, user: login?.user ?? null }),
          end: () => void ended.push(login?.user ?? null),
        }
      },
    },
  }
}

t.test('a page that closes while its reader is opened leaves none behind', async (t) => {
  const socket = new FakeSocket()
  const { readers, target } = create(async (readers) => {
    socket.close()
    return readers.open()
  })
  await servePage(socket as unknown as WebSocket, target)
  t.equal(readers.count, 0)
})

t.test('a page that closes while it waits ends its reader', async (t) => {
  const socket = new FakeSocket()
  const { readers, target } = create(async (readers) => readers.open())
  const served = servePage(socket as unknown as WebSocket, target)
  // When it waits, it has asked for the deltas after the first one.
  await new Promise(setImmediate)
  t.same(socket.sent, [{ faultForms: [], needsLogin: false }, { deltas: [{ number: 1, type: 'ready' }] }])
  t.equal(readers.count, 1)
  socket.close()
  await served
  t.equal(readers.count, 0)
})

t.test('an idle page leaves the event loop to others, also when all waits are ended', async (t) => {
  const socket = new FakeSocket()
  const { readers, target } = create(async (readers) => readers.open())
  const served = servePage(socket as unknown as WebSocket, target)
  for (let i = 0; i < 3; i++) {
    await new Promise(setImmediate)
    readers.wakeAll()
  }
  readers.push(ready)
  await new Promise(setImmediate)
  t.match(socket.sent.at(-1), { deltas: [{ number: 2, type: 'ready' }] })
  socket.close()
  await served
})

t.test('before a login, a page can neither read nor control', async (t) => {
  const socket = new FakeSocket()
  const { readers, target } = create(async (readers) => readers.open())
  const served = servePage(socket as unknown as WebSocket, { ...target, needsLogin: true })
  await new Promise(setImmediate)
  t.same(socket.sent, [{ faultForms: [], needsLogin: true }])
  t.equal(readers.count, 0)
  const heal = { verb: 'heal', fields: {} }
  t.same(await socket.ask({ id: 1, ...heal }), { id: 1, error: 'log in first.' })
  const login = { user: 'ann', password: 'wrong', source: 'admin' }
  t.same(await socket.ask({ id: 2, login }), { id: 2, error: 'Authentication failed.' })
  const before = socket.sent.length
  for (const wrong of [{ user: 'ann' }, { ...login, password: 5 }, null, 'ann'])
    await socket.ask({ id: 3, login: wrong })
  t.equal(socket.sent.length, before, 'other messages are dropped')
  await socket.ask({ id: 4, login: { ...login, password: 'secret' } })
  t.match(socket.sent.slice(before), [{ id: 4, reply: {} }, { deltas: [{ type: 'ready' }] }])
  t.same(await socket.ask({ id: 5, ...heal }), { id: 5, reply: { verb: 'heal', user: 'ann' } })
  socket.close()
  await served
  t.equal(readers.count, 0)
  t.equal(ended.at(-1), 'ann')
})
