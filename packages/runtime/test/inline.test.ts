import t from 'tap'
import { createInlineRuntime } from '../src/index.js'
import { liveSuite } from './support/live-suite.js'
import { runtimeSuite } from './support/runtime-suite.js'
import { toyRoles } from './support/toy-roles.js'
import { ask, spec } from './support/toy-world.js'

const world = { name: 'inline', create: () => createInlineRuntime({ roles: toyRoles, seed: 1 }) }

runtimeSuite(world)
liveSuite(world)

t.test('a manual clock moves only when it is advanced', async (test) => {
  const runtime = createInlineRuntime({ roles: toyRoles, seed: 1, clock: 'manual' })
  test.teardown(() => runtime.stop())
  await runtime.start([spec('a', 'sleeper'), spec('b', 'forwarder'), spec('c', 'echo')])
  const began = (await ask(runtime, 'c', 'now')) as number
  const hour = 3_600_000
  await ask(runtime, 'a', 'arm', { late: hour, later: 2 * hour })
  const names = async () => ((await ask(runtime, 'a', 'woken')) as { name: string }[]).map(({ name }) => name)
  test.same(await names(), [], 'not even what is due at once')
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
