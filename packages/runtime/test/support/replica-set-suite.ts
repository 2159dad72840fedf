import { checkIn, type World } from './runtime-suite.js'
import { ask, spec } from './toy-world.js'

/** What replica sets need of a world: names, and refusals by members that are not primary. */
export function replicaSetSuite(world: World): void {
  const check = checkIn(world)

  check(
    'a replica set, its endpoints and its further names lead to its members, on every host',
    [
      spec('a', 'forwarder'),
      spec('s-1', 'forwarder', { set: 's' }),
      spec('s-2', 'echo', { set: 's', listen: { host: '127.0.0.1', port: 0 } }),
      spec('b', 'echo', { set: 'b' }),
    ],
    async (test, runtime) => {
      await runtime.start([spec('s-3', 'forwarder', { set: 's' }), spec('one-1', 'echo', { set: 'one' })])
      await runtime.name('s', 'east')
      const endpoint = runtime.member('s-2')!.endpoint
      const names = ['s', 'east', 's-2', endpoint, 'b', 'one', 'unknown', 'cluster']
      const members = ['s-1', 's-2', 's-3']
      const expected = [members, members, ['s-2'], ['s-2'], ['b'], ['one-1'], [], ['cluster']]
      const askers = ['a', 's-1', 's-3']
      for (const asker of askers) test.same(await ask(runtime, asker, 'resolve', names), expected, asker)
      test.same(
        names.map((name) => runtime.resolve(name)),
        expected,
      )

      for (const asker of askers)
        test.same(
          await ask(runtime, asker, 'forward', { to: endpoint, operation: 'echo', argument: 1 }),
          { value: 1, from: asker },
          `a request to an endpoint, from ${asker}`,
        )
      test.same(await ask(runtime, 'a', 'forward', { to: 'one', operation: 'echo' }), { value: null, from: 'a' })
      test.same(
        await ask(runtime, 'a', 'forward', { to: 's', operation: 'echo' }),
        { failed: 'unreachable', undelivered: true, to: 's' },
        'a set with several members has no process',
      )

      await runtime.crash('s-2')
      test.same(await ask(runtime, 'a', 'resolve', names), expected, 'a member that is down keeps its names')
      test.match(await ask(runtime, 'a', 'forward', { to: endpoint, operation: 'echo' }), { undelivered: true })
      await runtime.restart('s-2')
      test.equal(runtime.member('s-2')!.endpoint, endpoint)
      for (const asker of askers)
        test.match(await ask(runtime, asker, 'forward', { to: endpoint, operation: 'echo' }), { from: asker })

      await test.rejects(
        runtime.start([spec('s', 'echo')]),
        /s-1 cannot be in the replica set s: a member has that name/,
      )
      await test.rejects(runtime.name('a', 's'), /s is a replica set/)
    },
  )

  check(
    'a removed member leaves its set, its names and its disk, and another can have its name',
    [
      spec('a', 'forwarder'),
      spec('s-1', 'echo', { set: 's' }),
      spec('s-2', 'counter', { set: 's', listen: { host: '127.0.0.1', port: 0 } }),
    ],
    async (test, runtime) => {
      await test.rejects(runtime.remove('s-2'), /s-2 is running/)
      await test.rejects(runtime.remove('s-3'), /no member s-3/)
      await ask(runtime, 's-2', 'add', 5)
      const endpoint = runtime.member('s-2')!.endpoint
      await runtime.halt('s-2')
      await runtime.remove('s-2')
      test.equal(runtime.member('s-2'), undefined)
      const names = ['s', endpoint]
      test.same(await ask(runtime, 'a', 'resolve', names), [['s-1'], []])
      test.same(
        names.map((name) => runtime.resolve(name)),
        [['s-1'], []],
      )
      test.match(await ask(runtime, 'a', 'forward', { to: 's-2', operation: 'sum' }), { undelivered: true })
      test.same(await ask(runtime, 'a', 'forward', { to: 's', operation: 'echo' }), { value: null, from: 'a' })
      await runtime.start([spec('s-2', 'counter', { set: 's' }), spec('b', 'forwarder')])
      for (const asker of ['a', 'b']) {
        test.same(await ask(runtime, asker, 'resolve', ['s']), [['s-1', 's-2']], asker)
        test.equal(await ask(runtime, asker, 'forward', { to: 's-2', operation: 'sum' }), 0, asker)
      }
    },
  )

  check(
    'a member that is not primary refuses requests as if it were down, and keeps running',
    [spec('a', 'forwarder'), spec('b', 'echo')],
    async (test, runtime) => {
      for (const undelivered of [true, false]) {
        const failure = { failed: 'unreachable', undelivered, to: 'b' }
        test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'refuse', argument: undelivered }), {
          ...failure,
          primaryHint: 'c',
        })
        test.same(
          await ask(runtime, 'a', 'forward', { to: 'b', operation: 'refuseLater', argument: undelivered }),
          failure,
        )
      }
      await test.rejects(ask(runtime, 'b', 'refuse', true), {
        name: 'RequestFailedError',
        message: 'b is not primary',
        undelivered: true,
        primaryHint: 'c',
      })
      await ask(runtime, 'a', 'notice', { to: 'b', operation: 'refuse', argument: true })
      await ask(runtime, 'a', 'notice', { to: 'b', operation: 'refuseLater', argument: true })
      await ask(runtime, 'b', 'after', 5)
      test.equal(runtime.member('b')!.state, 'running', 'a notice that it refuses is lost')
    },
  )

  check(
    'a refusal is an answer: link faults affect it',
    [spec('a', 'forwarder'), spec('b', 'echo')],
    async (test, runtime) => {
      const fault = await runtime.faults.apply({
        scope: 'link',
        from: ['b'],
        to: ['a'],
        bothWays: false,
        kinds: null,
        times: 1,
        probability: 1,
        seed: null,
        effect: { type: 'drop' },
      })
      test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'refuse', argument: true }), {
        failed: 'unreachable',
        undelivered: false,
        to: 'b',
      })
      await runtime.faults.heal(fault)
    },
  )
}
