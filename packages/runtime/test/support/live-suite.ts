import t from 'tap'
import { ask, nextEvent, spec } from './toy-world.js'
import type { World } from './runtime-suite.js'

/** What the worlds with a real clock promise: what would end a simulation is reported, and the others go on. */
export function liveSuite(world: World): void {
  for (const [operation, error] of [
    ['throw', 'Error: on purpose'],
    ['throwLater', 'Error: on purpose, later'],
    ['detach', 'Error: on purpose, and nobody waits'],
  ] as const) {
    t.test(`${world.name}: an exception of a handler (${operation}) crashes its actor alone`, async (test) => {
      const runtime = world.create()
      test.teardown(() => runtime.stop())
      await runtime.start([spec('a', 'echo'), spec('b', 'forwarder')])
      const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
      const logged = nextEvent(runtime, (event) => event.type === 'log' && event.level === 'error')
      test.same(await ask(runtime, 'b', 'forward', { to: 'a', operation }), { failed: 'unreachable', undelivered: false, to: 'a' })
      test.match(await crashed, { member: 'a', error })
      test.match(await logged, { member: 'a', fields: { stack: /toy-roles/ } })
      test.type(await ask(runtime, 'b', 'resumed'), Array, 'the other goes on')
      await runtime.restart('a')
      test.same(await ask(runtime, 'a', 'echo', 1), { value: 1, from: 'cluster' })
    })
  }

  t.test(`${world.name}: a timer's exception crashes its actor`, async (test) => {
    const runtime = world.create()
    test.teardown(() => runtime.stop())
    await runtime.start([spec('a', 'sleeper')])
    const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
    // The crash may be faster than the answer.
    ask(runtime, 'a', 'arm', { explode: 1 }).catch(() => {})
    test.match(await crashed, { member: 'a', error: 'Error: woken on purpose' })
  })

  t.test(`${world.name}: a member that cannot start makes start reject`, async (test) => {
    const runtime = world.create()
    test.teardown(() => runtime.stop())
    await test.rejects(
      runtime.start([spec('a', 'slowStarter', { options: { ask: null, delayMs: 1, fail: true } }), spec('b', 'echo')]),
      /cannot start/,
    )
    test.same(
      runtime.members().map(({ state }) => state),
      ['crashed', 'running'],
    )
  })
}
