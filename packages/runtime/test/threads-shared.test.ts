import t from 'tap'
import { createThreadsRuntime } from '../src/index.js'
import { bundledWorkerEntry } from './support/bundled-worker-entry.js'
import { liveSuite } from './support/live-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { ask, nextEvent, occupy, spec } from './support/toy-world.js'

const workerEntry = bundledWorkerEntry(t)
const create = (hosts: number) => createThreadsRuntime({ workerEntry, seed: 1, hosts })
const world = { name: 'threads, two shared workers', create: () => create(2) }

runtimeSuite(world)
liveSuite(world)

t.test('the members of a thread that is occupied for ever restart on a new one', async (test) => {
  const runtime = create(1)
  test.teardown(() => runtime.stop())
  const [before] = await runtime.start([spec('a', 'echo'), spec('b', 'echo'), spec('c', 'echo')])
  await occupy(runtime, 'c')
  const restarted = nextEvent(
    runtime,
    (event) => event.type === 'member' && event.state === 'started' && event.member === 'b',
  )
  await runtime.crash('a')
  const after = await runtime.restart('a')
  test.not(after.threadId, before!.threadId)
  await restarted
  for (const member of ['a', 'b']) test.same(await ask(runtime, member, 'echo', 1), { value: 1, from: 'cluster' })
})

t.test('members on the thread of a crashed member keep running, and it restarts on that thread', async (test) => {
  const runtime = create(1)
  test.teardown(() => runtime.stop())
  const before = await runtime.start([spec('a', 'echo'), spec('b', 'forwarder'), spec('c', 'echo')])
  const threads = new Set(before.map(({ threadId }) => threadId))
  test.equal(threads.size, 1)
  const toA = () => ask(runtime, 'b', 'forward', { to: 'a', operation: 'echo', argument: 1 })
  await runtime.crash('a')
  test.same(await toA(), { failed: 'unreachable', undelivered: true, to: 'a' })
  test.same(await ask(runtime, 'b', 'forward', { to: 'c', operation: 'echo', argument: 2 }), { value: 2, from: 'b' })
  test.same(
    runtime.members().map(({ state }) => state),
    ['crashed', 'running', 'running'],
  )
  test.ok(threads.has((await runtime.restart('a')).threadId))
  test.same(await toA(), { value: 1, from: 'b' })
})
