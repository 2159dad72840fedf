import t, { type Test } from 'tap'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createInlineRuntime,
  ProcessLinks,
  Rendezvous,
  type DirectoryContent,
  type DirectoryStore,
  type InlineRuntime,
} from '../src/index.js'
import { FramedSocket } from '../src/processes/framed-socket.js'
import { toyRoles } from './support/toy-roles.js'
import { ask, spec } from './support/toy-world.js'

interface World {
  readonly runtime: InlineRuntime
  readonly links: ProcessLinks
  stop(): Promise<void>
}

/** Stands for a process: it shares nothing with other worlds but the folder. */
async function world(
  t: Test,
  folder: string,
  port: number,
  address: string,
  set: string | null = null,
  store: DirectoryStore | null = null,
): Promise<World> {
  const rendezvous = new Rendezvous(folder)
  const endpoint = `127.0.0.1:${port}`
  const self = { pid: process.pid, port, address, set, endpoint, socket: join(folder, `${port}.sock`) }
  const links = new ProcessLinks(rendezvous, self, store)
  const runtime = createInlineRuntime({ roles: toyRoles, seed: port, links })
  const member = { ...spec(address, 'echo'), listen: null, ...(set === null ? {} : { set }) }
  await runtime.start([member, { ...spec(`${address}-forwarder`, 'forwarder'), listen: null }])
  await links.open()
  const stop = async (): Promise<void> => {
    links.close()
    await runtime.stop()
  }
  t.teardown(stop)
  return { runtime, links, stop }
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-meet-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const forward = ({ runtime }: World, from: string, to: string, argument: unknown = 1): Promise<unknown> =>
  ask(runtime, `${from}-forwarder`, 'forward', { to, operation: 'echo', argument })

t.test('members find those of other processes by their ports, and these can answer and ask', async (t) => {
  const folder = folderOf(t)
  const a = await world(t, folder, 40_001, 'a')
  const b = await world(t, folder, 40_002, 'b')
  t.match(await forward(a, 'a', '127.0.0.1:40002', 'x'), { value: 'x', from: 'a-forwarder' })
  t.match(await forward(b, 'b', 'a', 'y'), { value: 'y', from: 'b-forwarder' }, 'without a search: a has connected')
  t.match(await forward(a, 'a', 'localhost:40002', 'z'), { value: 'z' })
  const large = 'large'.repeat(1_000_000)
  t.match(await forward(a, 'a', 'b', large), { value: large })
  t.same(await forward(a, 'a', '127.0.0.1:40009'), { failed: 'unreachable', undelivered: true, to: '127.0.0.1:40009' })
})

t.test('processes tell each other the members they know, their sets and their names', async (t) => {
  const folder = folderOf(t)
  const a = await world(t, folder, 40_001, 'a', 'rs')
  const b = await world(t, folder, 40_002, 'b', 'rs')
  const c = await world(t, folder, 40_003, 'c')
  await forward(a, 'a', '127.0.0.1:40002')
  a.links.directory.name('rs', 'another')
  await forward(a, 'a', '127.0.0.1:40003')
  t.same(c.links.directory.resolve('rs'), ['a', 'b'])
  t.same(c.links.directory.resolve('another'), ['a', 'b'])
  t.match(await forward(c, 'c', 'b'), { from: 'c-forwarder' }, 'c and b have no connection before')
  t.equal(b.links.directory.setOf('a'), 'rs')
})

t.test('a process that ends is down, and one that starts again on its port has its name', async (t) => {
  const folder = folderOf(t)
  const a = await world(t, folder, 40_001, 'a')
  const b = await world(t, folder, 40_002, 'b')
  await forward(a, 'a', '127.0.0.1:40002')
  const waiting = ask(a.runtime, 'a-forwarder', 'forward', { to: 'b', operation: 'never' })
  await b.stop()
  t.match(await waiting, { failed: 'unreachable', undelivered: false })
  t.match(await forward(a, 'a', 'b'), { failed: 'unreachable', undelivered: true })
  await world(t, folder, 40_002, 'b')
  t.match(await forward(a, 'a', 'b'), { from: 'a-forwarder' })
})

t.test('a process that starts again knows the members of sets that it knew, and their names', async (t) => {
  const folder = folderOf(t)
  let stored: DirectoryContent | undefined
  const store: DirectoryStore = { load: () => stored, save: (content) => void (stored = content) }
  const a = await world(t, folder, 40_001, 'a', 'ra', store)
  const b = await world(t, folder, 40_002, 'b', 'rb')
  await forward(a, 'a', '127.0.0.1:40002')
  a.links.directory.name('rb', 'east')
  a.links.announce()
  await forward(a, 'a', 'rb')
  await a.stop()
  t.match(stored, { entries: [{ address: 'b', set: 'rb', owner: 40_002 }], names: [['east', 'rb']] })

  const again = await world(t, folder, 40_001, 'a', 'ra', store)
  t.match(await forward(again, 'a', 'east'), { from: 'a-forwarder' }, 'no endpoint was looked up')
  await b.stop()
  await world(t, folder, 40_002, 'c', 'rc')
  // The first message may be on its way when the connection closes.
  for (const _ of [1, 2]) t.match(await forward(again, 'a', 'rb'), { failed: 'unreachable' }, 'c has the port')
  t.same(again.links.directory.resolve('rc'), [], 'no message was sent to c')
})

t.test('a member finds itself by its port before other processes can', (t) => {
  const folder = folderOf(t)
  const self = { pid: process.pid, port: 40_001, address: 'a', set: 'ra', endpoint: '127.0.0.1:40001' }
  const links = new ProcessLinks(new Rendezvous(folder), { ...self, socket: join(folder, 'a.sock') })
  createInlineRuntime({ roles: toyRoles, seed: 1, links })
  t.same(links.directory.resolve('localhost:40001'), ['a'])
  t.same(links.directory.resolve('127.0.0.1:40002'), [])
  links.close()
  t.end()
})

t.test('files of servers that were killed are removed', (t) => {
  const folder = folderOf(t)
  const rendezvous = new Rendezvous(folder)
  const killed = {
    pid: 2 ** 22 - 1,
    port: 1,
    address: 'a',
    set: null,
    endpoint: '127.0.0.1:1',
    socket: join(folder, 's'),
  }
  writeFileSync(join(folder, '1.json'), JSON.stringify(killed))
  writeFileSync(killed.socket, '')
  t.equal(rendezvous.at('127.0.0.1:1'), undefined)
  t.same(readdirSync(folder), [])
  t.equal(rendezvous.at('example.com:1'), undefined)
  t.equal(rendezvous.at('a'), undefined)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  rendezvous.register({ ...killed, pid: process.pid })
  t.match(rendezvous.at('127.0.0.1:1'), { address: 'a' })
  rendezvous.leave()
  t.notOk(existsSync(join(folder, '1.json')))
  t.end()
})

t.test('frames arrive as they were sent, however the stream is cut', async (t) => {
  const received: [number, string][] = []
  const sockets: Socket[] = []
  const frames = [...Array.from({ length: 20 }, (_, i) => 'f'.repeat(i * i)), 'g'.repeat(300_000), '']
  const arrived = new Promise<void>((resolve) => {
    const server = createServer((socket) => {
      new FramedSocket(socket, (type, content) => {
        received.push([type, Buffer.from(content).toString()])
        if (received.length === frames.length) resolve()
      })
      sockets.push(socket)
    })
    t.teardown(() => server.close())
    server.listen(0, '127.0.0.1', () => {
      const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
      sockets.push(socket)
      const framed = new FramedSocket(socket, () => {})
      for (const frame of frames) framed.send(1, Buffer.from(frame))
    })
  })
  await arrived
  for (const socket of sockets) socket.destroy()
  t.same(
    received,
    frames.map((frame) => [1, frame]),
  )
})
