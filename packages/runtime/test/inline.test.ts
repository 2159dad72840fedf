import { Cancellation, type ActorFactory, type RequestOf, type UnfinishedWork } from '@shardlab/actor'
import t from 'tap'
import { BusyWorldError, createInlineRuntime, type InlineRuntime } from '../src/index.js'
import { liveSuite } from './support/live-suite.js'
import { replicaSetSuite } from './support/replica-set-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { toyRequest, toyRoles } from './support/toy-roles.js'
import { ask, spec } from './support/toy-world.js'

const world = { name: 'inline', create: () => createInlineRuntime({ roles: toyRoles, seed: 1 }) }

runtimeSuite(world)
replicaSetSuite(world)
liveSuite(world)

t.test('a manual clock moves only when it is advanced', async (test) => {
  const runtime = createInlineRuntime({ roles: toyRoles, seed: 1, clock: 'manual' })
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'sleeper'), spec('b', 'forwarder'), spec('c', 'echo')])
  const began = (await ask(runtime, 'c', 'now')) as number
  const hour = 3_600_000
  await ask(runtime, 'a', 'arm', { late: hour, later: 2 * hour })
  const names = async () => ((await ask(runtime, 'a', 'woken')) as { name: string }[]).map(({ name }) => name)
  test.same(await names(), [], 'not even a timer that is due at once')
  const timedOut = ask(runtime, 'b', 'forward', { to: 'c', operation: 'never', timeoutMs: hour })
  const slept = ask(runtime, 'b', 'forward', { to: 'c', operation: 'after', argument: hour - 1 })
  await runtime.advance(hour)
  test.same(await names(), ['early', 'late'])
  test.same(await timedOut, { failed: 'timed-out', undelivered: false, to: 'c' })
  test.equal(await slept, 'slept')
  test.equal(await ask(runtime, 'c', 'now'), began + hour)
  await runtime.advance(hour)
  test.same(await names(), ['early', 'late', 'later'])
  await test.rejects(createInlineRuntime({ roles: toyRoles, seed: 1 }).advance(1), /only a manual clock/)
})

t.test('a request that is answered while it is sent leaves no listener on its signal', async (test) => {
  const asker: ActorFactory<never> = (context) => {
    const echo = toyRoles['echo']!(context, null as never)
    return {
      receive: (kind, _, from) => {
        const stopping = new Cancellation()
        const options = { signal: stopping.signal, timeoutMs: 3_600_000 }
        void context.request('b', 'node.command', toyRequest('echo', 'x'.repeat(1000)), options)
        return echo.receive(kind, toyRequest('echo', stopping.listeners) as never, from)
      },
    }
  }
  // A larger packet is sent at once, and in this world it arrives inside the call.
  const runtime = createInlineRuntime({ roles: { ...toyRoles, asker }, seed: 1, limits: { packetBytes: 1000 } })
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'asker'), spec('b', 'echo')])
  test.match(await ask(runtime, 'a', 'listeners'), { value: 0 })
})

/** Counts its ticks, one each second. The operation `unfinish` sets its unfinished work. */
const ticker: ActorFactory<never> = (context) => {
  let ticks = 0
  let unfinished: readonly UnfinishedWork[] = []
  const echo = toyRoles['echo']!(context, null as never)
  const tick = () => context.setTimer('tick', 1000)
  return {
    receive: (kind, request, from) => {
      const { db, body } = request as RequestOf<'node.command'>
      if (db === 'unfinish') unfinished = JSON.parse(Buffer.from(body).toString())
      return echo.receive(kind, (db === 'unfinish' ? toyRequest('echo') : request) as never, from)
    },
    start: tick,
    wake: () => {
      ticks++
      tick()
    },
    unfinished: () => unfinished,
    exportState: () => ticks,
    resume: (state) => void (ticks = state as number),
    describe: () => ({ ticks }),
  }
}

t.test('a copy has the state, disks, timers and time of a world, and can be restored into several', async (test) => {
  const roles = { ...toyRoles, ticker }
  const create = (seed = 1) => createInlineRuntime({ roles, seed, clock: 'manual', copyPatienceMs: 50 })
  const runtime = create()
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'ticker'), spec('b', 'counter'), spec('c', 'counter'), spec('d', 'echo')])
  await ask(runtime, 'b', 'add', 3)
  await ask(runtime, 'c', 'add', 4)
  await runtime.crash('c')
  await runtime.advance(2500)
  const copy = await runtime.copy()
  const began = runtime.now()
  const drawn = await ask(runtime, 'd', 'random')

  const look = async (world: InlineRuntime) => [
    world.now(),
    (await world.describe('a'))['ticks'],
    await ask(world, 'b', 'sum'),
  ]
  await runtime.advance(10_000)
  await ask(runtime, 'b', 'add', 10)
  await runtime.restart('c')
  await runtime.start([spec('e', 'echo')])
  test.same(await look(runtime), [began + 10_000, 12, 13])
  const other = create(2)
  test.teardown(() => other.stop())
  const draws: unknown[] = []
  for (const world of [runtime, other, runtime]) {
    await world.restore(copy)
    test.same(
      world.members().map(({ address, state }) => `${address} ${state}`),
      ['a running', 'b running', 'c crashed', 'd running'],
    )
    test.same(await look(world), [began, 2, 3], 'a role without exportState is started from its disk')
    draws.push(await ask(world, 'd', 'random'))
    await world.advance(400)
    test.same(await look(world), [began + 400, 2, 3])
    await world.advance(100)
    test.same(await look(world), [began + 500, 3, 3], 'timers keep their remaining time')
    await world.restart('c')
    test.equal(await ask(world, 'c', 'sum'), 4)
    await ask(world, 'b', 'add', 1)
  }
  test.equal(draws[0], draws[2], 'the same generator in every copy')
  test.not(draws[0], drawn, 'and not the generator of before')
})

t.test('the members of a copy have the endpoints of its world, and those of the copied one as well', async (test) => {
  const create = () => createInlineRuntime({ roles: toyRoles, seed: 1 })
  const listen = { host: '127.0.0.1', port: 0 }
  const runtime = create()
  test.teardown(() => runtime.stop())
  const members = ['s-1', 's-2', 's-3']
  await runtime.start(members.map((member) => spec(member, 'echo', { set: 's', listen })))
  await runtime.crash('s-3')
  const copy = await runtime.copy()
  const endpoints = runtime.members().map(({ endpoint }) => endpoint)

  const fork = create()
  test.teardown(() => fork.stop())
  await fork.restore(copy, () => listen)
  await fork.restart('s-3')
  const forked = fork.members().map(({ endpoint }) => endpoint)
  test.equal(new Set([...endpoints, ...forked]).size, 6)
  for (const [i, member] of members.entries()) {
    test.same(fork.resolve(forked[i]!), [member])
    test.same(fork.resolve(endpoints[i]!), [member])
    test.same(runtime.resolve(forked[i]!), [])
  }
  test.same(fork.resolve('s'), members)

  // The port of each member is another one's in the copied world.
  await runtime.stop()
  await fork.stop()
  const ports = endpoints.map((endpoint) => Number(endpoint.split(':')[1]))
  const third = create()
  test.teardown(() => third.stop())
  await third.restore(copy, ({ address }) => ({ ...listen, port: ports[members.indexOf(address) === 0 ? 1 : 0]! }))
  test.same(third.resolve(endpoints[0]!), ['s-2'], 'the endpoints of this world win')
  test.same(third.resolve(endpoints[1]!), ['s-1'])

  await third.restore({ ...copy, members: copy.members.slice(0, 2) })
  test.same(third.resolve('s'), ['s-1', 's-2'], 'a member that the copy does not have has left')
})

t.test('a member that cannot be restored does not stop the others', async (test) => {
  let refuses = false
  const refuser: ActorFactory<never> = (context) => ({
    ...toyRoles['echo']!(context, null as never),
    exportState: () => null,
    resume: () => {
      if (refuses) throw new Error('its port is taken')
    },
  })
  const roles = { ...toyRoles, ticker, refuser }
  const runtime = createInlineRuntime({ roles, seed: 1, clock: 'manual', logLevel: 'error' })
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'ticker'), spec('b', 'refuser')])
  await runtime.advance(1500)
  const copy = await runtime.copy()
  const states = () => runtime.members().map(({ address, state }) => `${address} ${state}`)
  refuses = true
  await test.rejects(runtime.restore(copy), /its port is taken/)
  test.same(states(), ['a running', 'b crashed'])
  await runtime.advance(2000)
  test.match(await runtime.describe('a'), { ticks: 3 }, 'its timers are armed')
  refuses = false
  await runtime.restore(copy)
  test.same(states(), ['a running', 'b running'])
  test.match(await runtime.describe('a'), { ticks: 1 })
})

t.test('a world is copied when no member works on anything, and not while one does', async (test) => {
  const roles = { ...toyRoles, ticker }
  const runtime = createInlineRuntime({ roles, seed: 1, clock: 'manual', copyPatienceMs: 50 })
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'ticker'), spec('b', 'forwarder'), spec('c', 'echo')])
  const says = (message: string) =>
    Object.assign(new BusyWorldError([]), {
      message: new RegExp(`^the cluster cannot be copied now: ${message}\\. Wait`),
    })
  let ended = false
  const slow = ask(runtime, 'b', 'forward', { to: 'c', operation: 'after', argument: 700 }).then(() => (ended = true))
  await runtime.copy()
  test.ok(ended, 'running commands end first')
  await slow
  await ask(runtime, 'a', 'unfinish', [{ what: 'a moves a mountain', isBrief: false }])
  const copying = runtime.copy()
  test.throws(() => runtime.checkIdle(), says('a moves a mountain'))
  await test.rejects(copying, says('a moves a mountain'))
  await ask(runtime, 'a', 'unfinish', [{ what: 'a moves a stone', isBrief: true }])
  runtime.checkIdle()
  await test.rejects(runtime.copy(), says('a moves a stone'))
  await ask(runtime, 'a', 'unfinish', [])
  await runtime.copy()
  void ask(runtime, 'c', 'never').catch(() => {})
  await test.rejects(runtime.copy(), says('c is still busy'))
  test.equal(await ask(runtime, 'c', 'echo', 1).then(() => 'served'), 'served', 'the world still serves requests')
})

t.test('a copy and a restore reject when the world is stopped before they begin', async (test) => {
  const runtime = createInlineRuntime({ roles: { ...toyRoles, ticker }, seed: 1, clock: 'manual' })
  await runtime.start([spec('a', 'ticker')])
  const copy = await runtime.copy()
  const later = [runtime.copy(), runtime.restore(copy)].map((work) => work.catch(String))
  await runtime.stop()
  for (const error of await Promise.all(later))
    test.match(error, /^Error: the cluster was stopped: it can no longer be/)
  test.same(
    runtime.members().map(({ state }) => state),
    ['stopped'],
  )
})
