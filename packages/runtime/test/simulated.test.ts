import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Actor, ActorFactory, Disk, RequestFailedError } from '@shardlab/actor'
import t from 'tap'
import { createSimulatedRuntime, SimulationFailedError, TurnLimitError, type SimulatedRuntime } from '../src/index.js'
import { replicaSetSuite } from './support/replica-set-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { toyAnswer, toyRequest, toyRoles } from './support/toy-roles.js'
import { ask, spec } from './support/toy-world.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Files share a process, and code that was compiled under other flags is rejected.
setFlagsFromString('--no-expose-gc')

const create = (seed: number | string = 1) => createSimulatedRuntime({ roles: toyRoles, seed })

const world = { name: 'simulated', create: () => create() }

runtimeSuite(world)
replicaSetSuite(world)

async function campaign(seed: number): Promise<SimulatedRuntime> {
  const runtime = create(seed)
  const addresses = Array.from({ length: 5 }, (_, i) => `g${i}`)
  await runtime.start(addresses.map((address) => spec(address, 'gossip', { options: { peers: addresses } })))
  await runtime.advance(300)
  await runtime.crash('g1')
  await runtime.advance(100)
  await runtime.restart('g1')
  await runtime.advance(300)
  return runtime
}

t.test('equal seeds give equal runs, different seeds different ones', async (test) => {
  const hashes = new Set<string>()
  for (let seed = 1; seed <= 10; seed++) {
    const first = (await campaign(seed)).traceHash()
    test.equal((await campaign(seed)).traceHash(), first, `seed ${seed}`)
    hashes.add(first)
  }
  test.equal(hashes.size, 10, 'different seeds, different runs')
})

t.test('time passes only while a call waits, and takes no real time', async (test) => {
  const runtime = create()
  const began = runtime.now()
  test.equal(new Date(began).toISOString(), '2026-01-01T00:00:00.000Z')
  await runtime.start([spec('a', 'sleeper'), spec('b', 'echo')])
  const week = 7 * 24 * 3_600_000
  await ask(runtime, 'a', 'arm', { week })
  const before = runtime.now()
  await runtime.advance(week)
  test.equal(runtime.now(), before + week)
  test.match(await ask(runtime, 'a', 'woken'), [{ name: 'early' }, { name: 'week' }])
  const [early, late] = await Promise.all([
    ask(runtime, 'b', 'after', 10),
    ask(runtime, 'b', 'after', 1000),
    runtime.advance(100),
  ])
  test.same([early, late], ['slept', 'slept'], 'several calls can wait at once')
})

t.test('an answer under way survives the crash of a process, and is lost with a machine', async (test) => {
  const ends = new Set<string>()
  for (let seed = 1; seed <= 20; seed++) {
    const runtime = createSimulatedRuntime({ roles: toyRoles, seed, latency: { minMicros: 1000, maxMicros: 1000 } })
    await runtime.start([spec('a', 'echo')])
    const answer = ask(runtime, 'a', 'echo', 'hello').then(
      () => 'answered',
      (error: unknown) => `undelivered: ${(error as RequestFailedError).undelivered}`,
    )
    // The request arrives after one millisecond, its answer after two.
    await runtime.advance(1.5)
    await runtime.crash('a')
    ends.add(await answer)
  }
  test.same([...ends].sort(), ['answered', 'undelivered: false'])
})

t.test('messages under way are lost with a broken connection, and the next request opens another', async (test) => {
  const runtime = createSimulatedRuntime({ roles: toyRoles, seed: 1, latency: { minMicros: 1000, maxMicros: 1000 } })
  await runtime.start([spec('a', 'forwarder'), spec('b', 'echo')])
  const forward = () => ask(runtime, 'a', 'forward', { to: 'b', operation: 'echo', argument: 1 })
  const lost = forward()
  // It arrives at a after one millisecond, at b after two, and its answer at a after three.
  await runtime.advance(2.5)
  runtime.sever('a', 'b')
  test.same(await lost, { failed: 'unreachable', undelivered: false, to: 'b' })
  test.same(await forward(), { value: 1, from: 'a' })
  runtime.sever('a', 'a')
  await runtime.crash('b')
  runtime.sever('a', 'b')
})

t.test('a member that crashes right after its start ends as crashed', async (test) => {
  for (const turns of [0, 1, 2, 3, 4, 5]) {
    const recoverer: ActorFactory<never> = (context) => ({
      start: () =>
        void (async () => {
          for (let turn = 0; turn < turns; turn++) await Promise.resolve()
          await context.reach('toy.recovery')
        })(),
      receive: () => {
        throw new Error('the request has no sender')
      },
    })
    const runtime = createSimulatedRuntime({ roles: { recoverer }, seed: 1 })
    await runtime.start([spec('a', 'recoverer')])
    await runtime.crash('a')
    await runtime.steps.arm('toy.recovery', 'crash', { times: 1 })
    await runtime.restart('a').catch(() => {})
    test.equal(runtime.members()[0]!.state, 'crashed', `${turns} turns`)
    test.equal(runtime.member(runtime.members()[0]!.address)?.state, 'crashed')
    test.equal(runtime.member('unknown'), undefined)
    await runtime.restart('a')
    test.equal(runtime.members()[0]!.state, 'running')
  }
})

t.test('a restarted member keeps its endpoint', async (test) => {
  const runtime = create()
  const [started] = await runtime.start([spec('a', 'echo', { listen: { host: '127.0.0.1', port: 0 } })])
  await runtime.crash('a')
  test.equal((await runtime.restart('a')).endpoint, started!.endpoint)
  await runtime.crash('a')
  test.equal((await runtime.restart('a')).endpoint, started!.endpoint)
})

t.test('runUntilIdle runs out of events or of time', async (test) => {
  const runtime = create()
  await runtime.start([spec('a', 'sleeper')])
  await ask(runtime, 'a', 'arm', { once: 5000 })
  const before = runtime.now()
  test.equal(await runtime.runUntilIdle({ maxVirtualMs: 1000 }), false)
  test.equal(runtime.now(), before + 1000)
  test.equal(await runtime.runUntilIdle(), true)
  test.ok(runtime.now() < before + 6000, 'not beyond the last event')
})

t.test('a request that no event can answer rejects', async (test) => {
  const runtime = create('deaf')
  await runtime.start([spec('a', 'echo')])
  await test.rejects(
    ask(runtime, 'a', 'never'),
    /seed deaf: a has not answered node.command, and nothing is left to happen/,
  )
})

t.test('a peek takes no time, unless the member waits, and rejects when the member goes down', async (test) => {
  const runtime = create()
  await runtime.start([spec('a', 'echo')])
  const began = runtime.now()
  const peek = async (operation: string, argument: unknown = null) =>
    toyAnswer(await runtime.peek('a', 'node.command', toyRequest(operation, argument)))
  test.match(await peek('echo', 1), { value: 1 })
  test.equal(runtime.now(), began)
  test.equal(await peek('after', 10), 'slept')
  test.equal(runtime.now(), began + 10)
  const unanswered = peek('after', 1000)
  await runtime.crash('a')
  await test.rejects(unanswered, { message: 'a is not running' })
  await test.rejects(peek('echo'), { message: 'a is not running' })
})

t.test('waiting calls reject after the last turn', async (test) => {
  const runtime = createSimulatedRuntime({ roles: toyRoles, seed: 1, turnsMax: 1000 })
  await runtime.start([spec('b', 'echo')])
  const endless = async () => {
    for (;;) await ask(runtime, 'b', 'echo')
  }
  await test.rejects(endless(), TurnLimitError)
  test.equal(runtime.turns, 1001)
  await test.rejects(runtime.advance(1), { message: 'the simulation has not ended after 1000 turns' })
})

t.test('an exception of a handler ends the simulation with its seed', async (test) => {
  const runtime = create(77)
  await runtime.start([spec('a', 'echo'), spec('b', 'echo')])
  const failure = await ask(runtime, 'a', 'throw').catch((error: unknown) => error)
  test.ok(failure instanceof SimulationFailedError)
  test.match(failure, { seed: 77, member: 'a', message: /^seed 77: a failed at 2026-01-01T.*: on purpose$/ })
  await test.rejects(runtime.advance(1), SimulationFailedError)
  await test.rejects(
    create(78).start([spec('a', 'slowStarter', { options: { ask: null, delayMs: 1, fail: true } })]),
    /seed 78: a failed .*: cannot start/,
  )
})

t.test('a value that no message can hold is refused where it is sent', async (test) => {
  const runtime = create()
  await runtime.start([spec('a', 'careless')])
  await test.rejects(
    ask(runtime, 'a', ''),
    /seed 1: a failed at .*: node.command reply.body: an object \(Date\) cannot travel/,
  )
})

t.test('links have their own latency and keep their order', async (test) => {
  const latency = (from: string, to: string) =>
    from === 'a' && to === 'c' ? { minMicros: 1000, maxMicros: 50_000 } : { minMicros: 100, maxMicros: 100 }
  const runtime = createSimulatedRuntime({ roles: toyRoles, seed: 3, latency })
  await runtime.start([spec('a', 'forwarder'), spec('c', 'collector')])
  const before = runtime.now()
  await ask(runtime, 'a', 'notices', { to: 'c', count: 40 })
  const { values, packets } = (await ask(runtime, 'a', 'forward', { to: 'c', operation: 'collected' })) as {
    values: number[]
    packets: number
  }
  test.ok(runtime.now() > before + 5)
  // Packets after a slow one arrive with it.
  test.ok(packets > 1 && packets < 40, `${packets} packets`)
  test.same(
    values,
    Array.from({ length: 40 }, (_, i) => i),
  )
})

t.test('a link keeps its latency when the object of the range is changed', async (test) => {
  const range = { minMicros: 0, maxMicros: 0 }
  const latency = (from: string) => {
    const micros = from === 'a' ? 5000 : 1000
    return Object.assign(range, { minMicros: micros, maxMicros: micros })
  }
  const runtime = createSimulatedRuntime({ roles: toyRoles, seed: 1, latency })
  await runtime.start([spec('a', 'echo')])
  const before = runtime.now()
  await ask(runtime, 'a', 'echo')
  test.equal(runtime.now(), before + 6)
})

t.test('queued writes of a slow disk keep their order when it is healed', async (test) => {
  // When two writes begin, in milliseconds; the first one takes ten.
  const beginnings = [
    [0.9, 5.1],
    [0.9, 10.5],
    [0, 10],
    [0, 9],
  ] as const
  for (const [first, second] of beginnings) {
    for (const kind of ['append', 'checkpoint']) {
      let disk: Disk | undefined
      const writer: ActorFactory<never> = (context) => {
        disk = context.disk
        const echo = toyRoles['echo']!(context, null as never)
        return {
          receive(messageKind, request, from) {
            const { db } = request as ReturnType<typeof toyRequest>
            const record = Buffer.from(`${context.now()} ${db}`)
            void (db === 'append' ? context.disk.append(record) : context.disk.writeCheckpoint(record))
            return echo.receive(messageKind, toyRequest('endpoint') as typeof request, from)
          },
        }
      }
      const runtime = createSimulatedRuntime({
        roles: { writer },
        seed: 1,
        latency: { minMicros: 1000, maxMicros: 1000 },
      })
      await runtime.start([spec('a', 'writer')])
      const before = runtime.now()
      const id = await runtime.faults.apply({
        scope: 'member',
        address: 'a',
        effect: { type: 'slow-disk', perAppendMs: 10 },
      })
      await runtime.advance(first)
      const asked = [ask(runtime, 'a', 'append')]
      await runtime.advance(2)
      await runtime.faults.heal(id)
      await runtime.advance(second - first - 2)
      asked.push(ask(runtime, 'a', kind))
      await Promise.all(asked)
      await runtime.advance(50)
      const { checkpoint, records } = disk!.read()
      const text = (bytes: Uint8Array) =>
        Buffer.from(bytes)
          .toString()
          .replace(/^\d+/, (atMs) => String(Number(atMs) - before))
      const [firstly, secondly] = [`${Math.floor(first) + 1} append`, `${Math.floor(second) + 1} ${kind}`]
      const expected = kind === 'append' ? [firstly, secondly] : [secondly]
      test.same([...(checkpoint === null ? [] : [checkpoint]), ...records].map(text), expected, `${kind} at ${second}`)
    }
  }
})

t.test('crashed members are garbage collected', async (test) => {
  const lives: WeakRef<Actor>[] = []
  const busy: ActorFactory<never> = (context) => {
    const actor: Actor = {
      ...toyRoles['echo']!(context, null as never),
      start: () => context.send('e', 'node.command', toyRequest('echo')),
    }
    lives.push(new WeakRef(actor))
    return actor
  }
  const runtime = createSimulatedRuntime({ roles: { ...toyRoles, busy }, seed: 1 })
  const addresses = Array.from({ length: 10 }, (_, i) => `b${i}`)
  await runtime.start([spec('e', 'echo'), ...addresses.map((address) => spec(address, 'busy'))])
  await runtime.advance(10)
  for (const address of addresses) {
    await runtime.crash(address)
    await runtime.restart(address)
    await runtime.advance(10)
  }
  await ask(runtime, 'e', 'echo')
  await new Promise(setImmediate)
  collectGarbage()
  test.equal(lives.filter((life) => life.deref() !== undefined).length, addresses.length)
})

t.test('an unreferenced world is garbage collected, even if its last message was refused', async (test) => {
  const lost = async (): Promise<WeakRef<SimulatedRuntime>> => {
    const runtime = create()
    await runtime.start([spec('a', 'echo')])
    await ask(runtime, 'a', 'echo')
    const refused = runtime.request('a', 'node.command', { ...toyRequest('echo'), body: (() => {}) as never })
    await test.rejects(refused, { name: 'UnpackableValueError' })
    return new WeakRef(runtime)
  }
  const world = await lost()
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  collectGarbage()
  test.equal(world.deref() === undefined, true)
})
