import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClusterEvent } from '@shardlab/actor'
import { unpack } from 'msgpackr'
import t, { type Test } from 'tap'
import { encodeControl } from '../src/nats/control-codec.js'
import { decodeMessage, encodeState } from '../src/nats/frame-codec.js'
import { createNatsRuntime, Machine, type MachineOptions, type NatsRuntimeOptions } from '../src/nats/index.js'
import { MemoryBroker, type MemoryClient } from './support/memory-broker.js'
import { toyLoaders } from './support/toy-roles.js'
import { ask, nextEvent, spec } from './support/toy-world.js'

const timings = { tickMs: 10, pingMs: 10, lostAfterMs: 150, abandonedAfterMs: 60_000 }

interface Given {
  readonly machines?: readonly string[]
  readonly machine?: Partial<MachineOptions>
  readonly runtime?: Partial<NatsRuntimeOptions>
}

async function open(test: Test, { machines = ['m1', 'm2'], machine = {}, runtime: given = {} }: Given = {}) {
  const broker = new MemoryBroker()
  const clients = new Map<string, MemoryClient>()
  const opened = new Map<string, Machine>()
  const news: string[] = []
  const start = async (name: string): Promise<void> => {
    clients.set(name, broker.connect())
    const options = { broker: clients.get(name)!, name, roles: toyLoaders, version: '1', timings, ...machine }
    opened.set(name, await Machine.open({ ...options, onNews: (sentence) => news.push(sentence) }))
  }
  for (const name of machines) await start(name)
  const supervisor = broker.connect()
  const runtime = createNatsRuntime({
    broker: supervisor,
    cluster: 'c',
    machines,
    // Named by what follows the first letter.
    placement: ({ address }) => `m${address.slice(1)}`,
    version: '1',
    seed: 1,
    timings,
    ...given,
  })
  const events: ClusterEvent[] = []
  runtime.onEvent((event) => events.push(event))
  test.teardown(async () => {
    await runtime.stop()
    for (const each of opened.values()) each.close()
  })
  const states = () => events.flatMap((event) => (event.type === 'member' ? [`${event.member} ${event.state}`] : []))
  const until = (member: string, state: string) =>
    nextEvent(runtime, (event) => event.type === 'member' && event.member === member && event.state === state)
  /** Cuts it off until the supervisor notices. */
  const loseM2 = async (): Promise<void> => {
    const down = until('b2', 'crashed')
    clients.get('m2')!.isCut = true
    await down
  }
  return { broker, clients, loseM2, opened, news, start, supervisor, runtime, events, states, until }
}

const soon = (): Promise<unknown> => new Promise(setImmediate)

/** What links state at ticks does not count: a link survives its loss. */
function loseFirstParts(broker: MemoryBroker, subjectEnd: string, count = 1): { readonly lost: number } {
  const counted = { lost: 0 }
  broker.loses = (subject, content) => {
    if (!subject.endsWith(subjectEnd) || counted.lost === count || !decodeMessage(content)?.bytes) return false
    counted.lost++
    return true
  }
  return counted
}

const forward = (operation: string, argument: unknown = null) => ({ to: 'b2', operation, argument })

t.test('a machine that is cut off is silent, then its members are down; they return as they were', async (test) => {
  const { clients, runtime, events, states, until } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  await ask(runtime, 'b2', 'add', 5)
  const down = until('b2', 'crashed')
  clients.get('m2')!.isCut = true
  const waiting = ask(runtime, 'a1', 'forward', forward('add', 1))
  const gone = { failed: 'unreachable', undelivered: false, to: 'b2' }
  test.same(await waiting, gone, 'a request that is under way fails when the member counts as crashed')
  test.match(await down, { member: 'b2' })
  test.ok(
    events.some((event) => event.type === 'log' && event.message === 'the host m2 is silent: its members are down'),
  )
  test.same(await ask(runtime, 'a1', 'forward', forward('sum')), { ...gone, undelivered: true }, 'the next at once')
  await test.rejects(runtime.restart('b2'), /its host m2 is not connected/)
  const back = until('b2', 'started')
  clients.get('m2')!.isCut = false
  await back
  test.ok(events.some((event) => event.type === 'log' && event.message.startsWith('the host m2 is back: ')))
  test.equal(await ask(runtime, 'b2', 'sum'), 5, 'it kept running, and the lost message stays lost')
  test.equal(await ask(runtime, 'a1', 'forward', forward('sum')), 5)
  test.same(states(), ['a1 started', 'b2 started', 'b2 crashed', 'b2 started'])
})

t.test('lost messages break the link of two machines, and nothing else', async (test) => {
  const { broker, runtime, states } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'echo')])
  test.same(await ask(runtime, 'a1', 'forward', forward('echo', 1)), { value: 1, from: 'a1' })
  // Host numbers are given in the order of the machines' names.
  const counted = loseFirstParts(broker, '.c.2.packets.1')
  test.same(await ask(runtime, 'a1', 'forward', forward('echo', 2)), {
    failed: 'unreachable',
    undelivered: false,
    to: 'b2',
  })
  test.equal(counted.lost, 1)
  test.same(await ask(runtime, 'a1', 'forward', forward('echo', 3)), { value: 3, from: 'a1' })
  test.same(states(), ['a1 started', 'b2 started'])
})

t.test('lost calls of the supervisor make the machine join again; its members keep running', async (test) => {
  const { broker, runtime, states, news } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  await ask(runtime, 'b2', 'add', 5)
  loseFirstParts(broker, '.2.calls')
  runtime.watch(['log', 'routed', 'member'])
  while (!news.some((sentence) => sentence.includes('m2 is connected with the cluster c again'))) await soon()
  // Connections with the machine have broken.
  let sum: unknown = null
  while (typeof sum !== 'number') sum = await ask(runtime, 'a1', 'forward', forward('sum'))
  test.equal(sum, 5)
  await runtime.crash('b2')
  await runtime.restart('b2')
  test.equal(await ask(runtime, 'b2', 'sum'), 5)
  test.same(
    states().filter((state) => state.startsWith('a1')),
    ['a1 started'],
  )
})

t.test('a member that is crashed while its machine is silent is ended when the machine is back', async (test) => {
  const { clients, loseM2, runtime } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  await ask(runtime, 'b2', 'add', 5)
  await loseM2()
  await runtime.crash('b2')
  clients.get('m2')!.isCut = false
  // As soon as it is connected.
  for (;;) {
    const error = await runtime.restart('b2').then(
      () => null,
      (reason: Error) => reason,
    )
    if (error === null) break
    test.match(error, /not connected/)
    await soon()
  }
  test.equal(await ask(runtime, 'b2', 'sum'), 5, 'recovered from its disk')
})

for (const inFiles of [false, true])
  t.test(`the members of a host that was killed restart with it (disks in files: ${inFiles})`, async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'shardlab-nats-'))
    test.teardown(() => rmSync(folder, { recursive: true }))
    const { clients, opened, start, runtime, until } = await open(test, inFiles ? { machine: { folder } } : {})
    await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
    await ask(runtime, 'b2', 'add', 5)
    const down = until('b2', 'crashed')
    // The host can send nothing any more.
    clients.get('m2')!.isCut = true
    opened.get('m2')!.close()
    await down
    const back = until('b2', 'started')
    await start('m2')
    await back
    test.equal(await ask(runtime, 'a1', 'forward', forward('sum')), inFiles ? 5 : 0)
  })

t.test('a host that restarts before it was missed', async (test) => {
  const { clients, opened, start, runtime, events, until } = await open(test, {
    runtime: { timings: { ...timings, lostAfterMs: 60_000 } },
  })
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  const down = until('b2', 'crashed')
  clients.get('m2')!.isCut = true
  opened.get('m2')!.close()
  await start('m2')
  await down
  test.ok(events.some((event) => event.type === 'log' && /m2 has restarted/.test(event.message)))
  await until('b2', 'started')
  test.equal(await ask(runtime, 'a1', 'forward', forward('sum')), 0)
})

t.test('a machine whose cluster is silent ends its members and is free', async (test) => {
  const { supervisor, runtime, news, start, broker } = await open(test, {
    machines: ['m1'],
    machine: { timings: { ...timings, abandonedAfterMs: 50 } },
  })
  await runtime.start([spec('a1', 'echo', { listen: { host: '127.0.0.1', port: 0 } })])
  supervisor.isCut = true
  while (!news.some((sentence) => sentence.includes('was silent'))) await soon()
  test.match(news, ['m1 is part of the cluster c', /m1 has left the cluster c: the cluster was silent/])
  await start('m9')
  const other = createNatsRuntime({
    broker: broker.connect(),
    cluster: 'd',
    machines: ['m1'],
    version: '1',
    seed: 1,
    timings,
  })
  await other.start([spec('a1', 'echo')])
  test.same(await ask(other, 'a1', 'echo', 1), { value: 1, from: 'cluster' })
  await other.stop()
})

t.test('large messages are split; all are msgpack', async (test) => {
  const { broker, runtime } = await open(test)
  broker.contentBytesMax = 20_000
  const small = createNatsRuntime({
    broker: broker.connect(),
    cluster: 's',
    machines: ['m1'],
    version: '1',
    seed: 1,
    timings,
  })
  test.teardown(() => small.stop())
  await small.start([spec('a1', 'echo')])
  const value = 'x'.repeat(300_000)
  test.same(await ask(small, 'a1', 'echo', value), { value, from: 'cluster' })
  const packets = broker.delivered.filter(({ subject }) => subject.includes('.packets.'))
  test.ok(packets.length > 30)
  test.ok(packets.every(({ content }) => content.length <= 20_000))
  const [first] = packets.map(({ content }) => unpack(content) as unknown[]).filter((message) => message.length === 5)
  test.equal(first!.length, 5)
  await runtime.stop()
})

t.test('limits of strikes hold over machines, and strikes are counted', async (test) => {
  const { runtime } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'forwarder')])
  const step = await runtime.steps.arm('toy.step', 'fail', { times: 1 })
  test.same(await ask(runtime, 'b2', 'step', 'toy.step'), { failedStep: 'toy.step' })
  test.equal(await runtime.steps.struck(step), 'b2')
  // The machines receive the count before this request.
  test.equal(await ask(runtime, 'a1', 'step', 'toy.step'), 'passed')
  test.equal(runtime.steps.strikes(step), 1)
  const link = await runtime.faults.apply({
    scope: 'link',
    effect: { type: 'drop' },
    from: ['a1'],
    to: ['b2'],
    bothWays: false,
    kinds: null,
    times: 2,
    probability: 1,
    seed: null,
  })
  for (let i = 0; i < 2; i++)
    test.match(await ask(runtime, 'a1', 'forward', forward('resumed')), { failed: 'unreachable' })
  test.type(await ask(runtime, 'a1', 'forward', forward('resumed')), Array)
  while (runtime.faults.strikes(link) < 2) await soon()
  test.equal(runtime.faults.strikes(link), 2)
})

t.test('unusable names, versions, hosts and limits are refused with a sentence', async (test) => {
  const { broker, runtime } = await open(test)
  const machine = (given: Partial<MachineOptions>) =>
    Machine.open({ broker: broker.connect(), name: 'm3', roles: toyLoaders, version: '1', timings, ...given })
  await test.rejects(machine({ name: 'm1' }), { name: 'BrokerError', message: /another host is named m1/ })
  await test.rejects(machine({ name: 'a.b' }), /letters, digits/)
  const cluster = (given: Partial<NatsRuntimeOptions>) =>
    createNatsRuntime({
      broker: broker.connect(),
      cluster: 'd',
      machines: ['m1'],
      version: '1',
      seed: 1,
      timings,
      ...given,
    })
  const refused = async (given: Partial<NatsRuntimeOptions>, message: RegExp) => {
    const other = cluster(given)
    await test.rejects(other.start([spec('a1', 'echo')]), { name: 'BrokerError', message })
    await other.stop()
  }
  await refused({ machines: ['m1', 'm7'] }, /no host named m7 answers: start it with `shardlab host/)
  await refused({ version: '2' }, /the host m1 runs version 1 of Shardlab and the cluster 2/)
  await runtime.start([spec('a1', 'echo')])
  const second = cluster({ cluster: 'e' })
  await second.start([spec('a1', 'echo')])
  test.same(await ask(second, 'a1', 'echo', 2), { value: 2, from: 'cluster' }, 'two clusters share a host')
  await second.stop()
  test.same(await ask(runtime, 'a1', 'echo', 1), { value: 1, from: 'cluster' }, 'nothing has changed')
  await test.rejects(runtime.start([spec('x9', 'echo')]), /the cluster has no host m9/)
  broker.contentBytesMax = 1000
  test.throws(() => cluster({}), { name: 'BrokerError', message: /at most 1000 bytes/ })
  await test.rejects(machine({}), /increase max_payload/)
  broker.contentBytesMax = 1_000_000
})

t.test('a machine that is cut off from the broker for long waits, and its members return', async (test) => {
  const { clients, loseM2, runtime, news, until } = await open(test, {
    machine: { timings: { ...timings, abandonedAfterMs: 50 } },
  })
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  await ask(runtime, 'b2', 'add', 5)
  // Takes longer than the 50 ms after which it would leave a silent cluster.
  await loseM2()
  const back = until('b2', 'started')
  clients.get('m2')!.isCut = false
  await back
  test.equal(await ask(runtime, 'b2', 'sum'), 5)
  test.notOk(news.some((sentence) => sentence.includes('has left')))
})

t.test('a member whose crash was not reported stays down', async (test) => {
  const { broker, runtime, until } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  await runtime.steps.arm('toy.step', 'crash', { addresses: ['b2'] })
  const down = until('b2', 'crashed')
  const counted = loseFirstParts(broker, '.2.reports', 2)
  await ask(runtime, 'b2', 'step', 'toy.step').catch(() => {})
  await down
  test.ok(counted.lost > 0)
  for (let i = 0; i < 50; i++) await soon()
  test.equal(runtime.member('b2')?.state, 'crashed')
  await runtime.restart('b2')
  test.equal(await ask(runtime, 'b2', 'sum'), 0)
})

t.test('a start that cannot place all members adds none, and a removed member leaves no disk', async (test) => {
  const { clients, loseM2, runtime } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'counter')])
  await ask(runtime, 'b2', 'add', 5)
  await loseM2()
  await test.rejects(runtime.start([spec('c1', 'echo'), spec('d2', 'echo')]), /d2 cannot start: its host m2/)
  test.equal(runtime.member('c1'), undefined)
  await runtime.remove('b2')
  clients.get('m2')!.isCut = false
  for (;;) {
    const error = await runtime.start([spec('b2', 'counter')]).catch((reason: Error) => reason)
    if (!(error instanceof Error)) break
    test.match(error, /not connected/)
    await soon()
  }
  test.equal(await ask(runtime, 'b2', 'sum'), 0, 'with an empty disk')
})

t.test('messages of strangers do no harm', async (test) => {
  const { broker, runtime } = await open(test)
  await runtime.start([spec('a1', 'forwarder'), spec('b2', 'echo')])
  const stranger = broker.connect()
  const contents = [
    Buffer.from('hello'),
    Buffer.alloc(0),
    encodeControl(null),
    encodeControl({ type: 'join', cluster: '../x' }),
  ]
  for (const subject of [
    'shardlab.machine.m1',
    'shardlab.machines',
    'shardlab.cluster.c.1.calls',
    'shardlab.cluster.c.1.packets.2',
  ])
    for (const content of contents) stranger.publish(subject, content)
  const join = { type: 'join', cluster: '../x', version: '1', hostId: 1, processId: 'x' }
  test.equal(await stranger.request('shardlab.machine.m1', encodeControl(join), 20), null)
  // A link would answer a question about its state at once.
  const question = encodeState({ epoch: 1, number: 0, received: 0, asks: true })
  const answered = new Set<string>()
  broker.loses = (subject) => {
    if (subject.endsWith('.packets.1')) answered.add(subject)
    return false
  }
  for (const host of ['2', '77', '1e3', 'x', '-1']) stranger.publish(`shardlab.cluster.c.1.packets.${host}`, question)
  while (answered.size === 0) await soon()
  test.same([...answered], ['shardlab.cluster.c.2.packets.1'], 'links are open to hosts of the cluster only')
  test.same(await ask(runtime, 'a1', 'forward', forward('echo', 1)), { value: 1, from: 'a1' })
})
