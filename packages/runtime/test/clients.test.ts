import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import type { GatewayTarget } from '../src/host/clients/gateway-target.js'
import { createInlineRuntime, createThreadsRuntime, type GatewayOpener, type Runtime } from '../src/index.js'
import { bundledWorkerEntry } from './support/bundled-worker-entry.js'
import { toyAnswer, toyRequest, toyRoles } from './support/toy-roles.js'
import { ask, nextEvent, spec } from './support/toy-world.js'

const listen = { host: '127.0.0.1', port: 0 }

function connected(endpoint: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(endpoint.split(':')[1]), '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })
}

const workerEntry = bundledWorkerEntry(t)
const worlds: Record<string, () => Runtime> = {
  inline: () => createInlineRuntime({ roles: toyRoles, seed: 1 }),
  threads: () => createThreadsRuntime({ workerEntry, seed: 1 }),
}

for (const [name, create] of Object.entries(worlds)) {
  t.test(
    `${name}: a crash ends the connections of a member, and its restart listens on the same port`,
    async (test) => {
      const runtime = create()
      test.teardown(() => runtime.stop())
      const [info] = await runtime.start([spec('a', 'echo', { listen }), spec('b', 'echo')])
      const { endpoint } = info!
      test.match(endpoint, /^127\.0\.0\.1:[1-9]\d+$/)
      test.equal(await ask(runtime, 'a', 'endpoint'), endpoint)
      const socket = await connected(endpoint)
      const ended = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve))
      await runtime.crash('a')
      await ended
      await test.rejects(connected(endpoint), { code: 'ECONNREFUSED' })
      test.equal((await runtime.restart('a')).endpoint, endpoint)
      const again = await connected(endpoint)
      await test.rejects(
        runtime.start([spec('c', 'echo', { listen: { host: '127.0.0.1', port: Number(endpoint.split(':')[1]) } })]),
        /EADDRINUSE/,
      )
      const over = new Promise((resolve) => again.on('close', resolve))
      again.end()
      await runtime.stop()
      await over
      await test.rejects(connected(endpoint), { code: 'ECONNREFUSED' })
    },
  )
}

t.test('clients wait for a member that is starting, and one that is down refuses them', async (test) => {
  const callees: GatewayTarget[] = []
  const ends: string[] = []
  const openGateway: GatewayOpener = async ({ host, target }) => {
    callees.push(target)
    const end = { close: async () => void ends.push('close'), destroy: () => void ends.push('destroy') }
    return {
      host,
      port: 4242,
      tls: null,
      connectionsMax: 1,
      rejectedConnections: 0,
      certificateOf: () => null,
      closeConnections: () => {},
      ...end,
    }
  }
  const runtime = createInlineRuntime({ roles: toyRoles, seed: 1, openGateway })
  // The sockets of a real gateway would keep the process alive.
  const alive = setInterval(() => {}, 1000)
  test.teardown(() => clearInterval(alive))
  await runtime.start([spec('twin', 'echo')])
  const begun = nextEvent(runtime, (event) => event.type === 'member' && event.member === 'slow')
  const starting = runtime.start([
    spec('slow', 'slowStarter', { listen, options: { ask: 'twin', delayMs: 5 } }),
    spec('a', 'echo', { listen }),
  ])
  await Promise.resolve()
  const [slow, a] = callees
  let started = false
  void begun.then(() => (started = true))
  const found = await slow!.request('node.command', toyRequest('found'))
  test.ok(started || runtime.members()[1]!.state !== 'crashed')
  test.same(toyAnswer(found), { value: 'hello', from: 'slow' })
  await starting
  test.equal(runtime.members()[2]!.endpoint, '127.0.0.1:4242')

  const direct = a!.request('node.command', toyRequest('echo', 1))
  test.notOk(direct instanceof Promise, 'an immediate answer needs no promise')
  test.same(toyAnswer(await direct), { value: 1, from: 'gateway' })
  test.equal(toyAnswer(await a!.request('node.command', toyRequest('after', 1))), 'slept')

  const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
  await test.rejects(async () => a!.request('node.command', toyRequest('throwLater')), {
    name: 'RequestFailedError',
    reason: 'unreachable',
  })
  test.match(await crashed, { member: 'a', error: /on purpose, later/ })
  test.throws(() => a!.request('node.command', toyRequest('echo')), {
    name: 'RequestFailedError',
    reason: 'unreachable',
  })
  await runtime.stop()
  test.same(ends, ['destroy', 'close', 'destroy'])
})

for (const [name, create] of Object.entries(worlds)) {
  for (const end of ['crash', 'halt'] as const) {
    t.test(
      `${name}: the port of a member that is down stays bound after ${end} and refuses clients`,
      { skip: process.platform !== 'linux' && 'reads the table of sockets of Linux' },
      async (test) => {
        const runtime = create()
        test.teardown(() => runtime.stop())
        const [info] = await runtime.start([spec('a', 'echo', { listen }), spec('b', 'echo')])
        const { endpoint } = info!
        for (let round = 0; round < 3; round++) {
          await runtime[end]('a')
          await untilBound(endpoint)
          await test.rejects(connected(endpoint), { code: 'ECONNREFUSED' })
          test.equal((await runtime.restart('a')).endpoint, endpoint)
          ;(await connected(endpoint)).resetAndDestroy()
        }
        await runtime[end]('a')
        await untilBound(endpoint)
        await runtime.stop()
        test.equal(stateOf(endpoint), null, 'a stopped runtime holds no port')
      },
    )
  }

  t.test(`${name}: a member that listens on a name restarts on the same port`, async (test) => {
    const runtime = create()
    test.teardown(() => runtime.stop())
    const [info] = await runtime.start([spec('a', 'echo', { listen: { host: 'localhost', port: 0 } })])
    await runtime.crash('a')
    test.equal((await runtime.restart('a')).endpoint, info!.endpoint)
  })
}

/** Resolves when a socket that does not listen has the port. */
async function untilBound(endpoint: string): Promise<void> {
  while (stateOf(endpoint) !== established) await new Promise(setImmediate)
}

const established = '01'

/** Of the socket with this local address; null: none. */
function stateOf(endpoint: string): string | null {
  const [host, port] = endpoint.split(':') as [string, string]
  const bytes = host.split('.').map(Number)
  const address = Buffer.from(bytes.toReversed()).toString('hex').toUpperCase()
  const local = `${address}:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  const states = lines.map((line) => line.trim().split(/\s+/)).filter((fields) => fields[1] === local)
  return states[0]?.[3] ?? null
}
