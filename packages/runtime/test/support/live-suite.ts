import t from 'tap'
import type { MemberInfo } from '../../src/index.js'
import type { World } from './runtime-suite.js'
import { ask, nextEvent, spec } from './toy-world.js'

/**
 * For worlds with a real clock: an exception that would end a simulation is reported, and other
 * members keep running.
 */
export function liveSuite(world: World): void {
  for (const [operation, error] of [
    ['throw', 'Error: on purpose'],
    ['throwLater', 'Error: on purpose, later'],
    ['detach', 'Error: on purpose, in detached work'],
  ] as const) {
    t.test(`${world.name}: an exception of a handler (${operation}) crashes its actor alone`, async (test) => {
      const runtime = world.create()
      test.teardown(() => runtime.stop())
      await runtime.start([spec('a', 'echo'), spec('b', 'forwarder')])
      const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
      const logged = nextEvent(runtime, (event) => event.type === 'log' && event.level === 'error')
      test.same(await ask(runtime, 'b', 'forward', { to: 'a', operation }), {
        failed: 'unreachable',
        undelivered: false,
        to: 'a',
      })
      test.match(await crashed, { member: 'a', error })
      test.match(await logged, { member: 'a', fields: { stack: /toy-roles|worker-entry/ } })
      test.type(await ask(runtime, 'b', 'resumed'), Array, 'the other member keeps running')
      await runtime.restart('a')
      test.same(await ask(runtime, 'a', 'echo', 1), { value: 1, from: 'cluster' })
    })
  }

  for (const [end, state, why] of [
    ['crash', 'crashed', /a crashed while it was starting/],
    ['halt', 'stopped', /a (was stopped|crashed while it was starting)/],
  ] as const) {
    t.test(
      `${world.name}: a member that ends (${end}) during its restart is down, and its port is free`,
      async (test) => {
        const runtime = world.create()
        test.teardown(() => runtime.stop())
        const [{ endpoint }] = (await runtime.start([
          spec('a', 'echo', { listen: { host: '127.0.0.1', port: 0 } }),
          spec('b', 'forwarder'),
        ])) as [MemberInfo, MemberInfo]
        // The thread of its first incarnation ends at the same time.
        const crashed = runtime.crash('a')
        const restarted = runtime.restart('a').catch(String)
        await (end === 'crash' ? runtime.crash('a') : runtime.background.halt('a'))
        await crashed
        test.match(await restarted, why)
        test.equal(runtime.member('a')?.state, state)
        test.equal((await runtime.restart('a')).endpoint, endpoint)
        test.same(await ask(runtime, 'b', 'forward', { to: 'a', operation: 'echo', argument: 1 }), {
          value: 1,
          from: 'b',
        })
      },
    )
  }

  t.test(`${world.name}: a timer's exception crashes its actor`, async (test) => {
    const runtime = world.create()
    test.teardown(() => runtime.stop())
    await runtime.start([spec('a', 'sleeper')])
    const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
    // The crash may come before the answer.
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
