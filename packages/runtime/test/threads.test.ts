import { availableParallelism } from 'node:os'
import { createDeferred } from '@shardlab/actor'
import t from 'tap'
import { createThreadsRuntime, type HostsOption } from '../src/index.js'
import { StepFaultRegistry } from '../src/supervisor/step-fault-registry.js'
import { bundledWorkerEntry } from './support/bundled-worker-entry.js'
import { liveSuite } from './support/live-suite.js'
import { replicaSetSuite } from './support/replica-set-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { ask, nextEvent, occupy, spec } from './support/toy-world.js'

const workerEntry = bundledWorkerEntry(t)
const create = (hosts: HostsOption = 'per-member') => createThreadsRuntime({ workerEntry, seed: 1, hosts })

const world = { name: 'threads', create: () => create() }

runtimeSuite(world)
replicaSetSuite(world)
liveSuite(world)

t.test('members share the threads that leave a core free, or have one each', async (test) => {
  const threadsOf = async (runtime: ReturnType<typeof create>) => {
    test.teardown(() => runtime.stop())
    const infos = await runtime.start(Array.from({ length: 6 }, (_, i) => spec(`m${i}`, 'echo')))
    test.same(await ask(runtime, 'm5', 'echo', 1), { value: 1, from: 'cluster' })
    return new Set(infos.map(({ threadId }) => threadId))
  }
  const shared = await threadsOf(createThreadsRuntime({ workerEntry, seed: 1 }))
  test.equal(shared.size, Math.max(1, Math.min(availableParallelism() - 1, 4)))
  const own = await threadsOf(create('per-member'))
  test.equal(own.size, 6)
  test.notOk(own.has(0) || shared.has(0))
  await test.rejects(create(0).start([spec('a', 'echo')]), /hosts is/)
})

t.test('a step fault may strike until the last thread has healed it', async (test) => {
  const heard = createDeferred<void>()
  const steps = new StepFaultRegistry({ arm: async () => {}, heal: () => heard.promise })
  const struck: string[] = []
  const id = await steps.arm('toy.step', 'crash', { onStruck: ({ address }) => struck.push(address) })
  const healed = steps.heal(id)
  test.same(steps.armed(), [], 'a new thread does not arm it')
  steps.report(id, { address: 'a', step: 'toy.step', detail: {} })
  heard.resolve()
  await healed
  steps.report(id, { address: 'b', step: 'toy.step', detail: {} })
  test.same(struck, ['a'])
})

t.test('a member that joins later is reached by the existing ones', async (test) => {
  const runtime = create()
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'forwarder')])
  await runtime.start([spec('b', 'echo')])
  test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'echo', argument: 1 }), { value: 1, from: 'a' })
})

t.test(
  'the watchdog ends a worker whose thread is occupied for ever, so that its member stops and restarts',
  async (test) => {
    const runtime = create()
    test.teardown(() => runtime.stop())
    const threads = (await runtime.start([spec('a', 'echo'), spec('b', 'echo')])).map(({ threadId }) => threadId)
    const stateOf = (member: string) => runtime.members().find(({ address }) => address === member)!.state
    const restart = async (member: string) => {
      const { threadId } = await runtime.restart(member)
      test.notOk(threads.includes(threadId), `${member} has a new worker`)
      threads.push(threadId)
      test.same(await ask(runtime, member, 'echo', 1), { value: 1, from: 'cluster' })
    }
    // The loop of `occupy` has no end: nothing here would settle without the watchdog.
    await occupy(runtime, 'a')
    await runtime.halt('a')
    test.equal(stateOf('a'), 'stopped')
    await restart('a')
    await occupy(runtime, 'a')
    await runtime.crash('a')
    test.equal(stateOf('a'), 'crashed')
    await restart('a')
    await occupy(runtime, 'a')
    await runtime.crash('b')
    await restart('b')
    await runtime.stop()
  },
)

t.test('the members of a worker that ends by an error crash, and can be restarted', async (test) => {
  const runtime = create()
  test.teardown(() => runtime.stop())
  const [, before] = await runtime.start([spec('a', 'forwarder'), spec('b', 'echo')])
  const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
  const outside = ask(runtime, 'b', 'never').catch((error: unknown) => error)
  test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'float' }), {
    failed: 'unreachable',
    undelivered: false,
    to: 'b',
  })
  test.match(await outside, { reason: 'unreachable', undelivered: false })
  test.match(await crashed, { member: 'b', error: /floating on purpose/ })
  const after = await runtime.restart('b')
  test.not(after.threadId, before!.threadId)
  test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'echo', argument: 2 }), { value: 2, from: 'a' })
})

t.test('a worker that is terminated while it writes leaves a readable disk', async (test) => {
  const runtime = create()
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'counter', { diskLimitBytes: 64 * 1024 * 1024 }), spec('b', 'echo')])
  for (let round = 0; round < 3; round++) {
    const lost = ask(runtime, 'a', 'appendForEver').catch((error: unknown) => error)
    await ask(runtime, 'b', 'after', 20 + round * 7)
    await runtime.crash('a')
    test.match(await lost, { reason: 'unreachable', undelivered: false })
    await runtime.restart('a')
    const audit = (await ask(runtime, 'a', 'audit')) as { records: number; whole: boolean }
    test.ok(audit.whole, `all of ${audit.records} records are whole`)
  }
})
