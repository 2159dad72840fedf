import type { RequestFailedError } from '@shardlab/actor'
import t, { type Test } from 'tap'
import type { MemberSpec, Runtime } from '../../src/index.js'
import { ask, nextEvent, spec } from './toy-world.js'

export interface World {
  readonly name: string
  create(): Runtime
}

type Body = (test: Test, runtime: Runtime) => Promise<void>

/** Adds a test with a runtime that has started the members. */
export function checkIn(world: World) {
  return (name: string, specs: readonly MemberSpec[], body: Body): void => {
    void t.test(`${world.name}: ${name}`, async (test) => {
      const runtime = world.create()
      try {
        await runtime.start(specs)
        await body(test, runtime)
      } finally {
        await runtime.stop()
      }
    })
  }
}

export function runtimeSuite(world: World): void {
  const check = checkIn(world)

  check(
    'requests are answered, those of the API and those between members',
    [spec('a', 'forwarder'), spec('b', 'echo')],
    async (test, runtime) => {
      test.same(await ask(runtime, 'b', 'echo', { x: [1, 'two'] }), { value: { x: [1, 'two'] }, from: 'cluster' })
      test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'echo', argument: 1 }), {
        value: 1,
        from: 'a',
      })
      test.type(await ask(runtime, 'a', 'forward', { to: 'a', operation: 'resumed' }), Array, 'to itself')
      test.same(
        runtime.members().map(({ address, role, state }) => [address, role, state]),
        [
          ['a', 'forwarder', 'running'],
          ['b', 'echo', 'running'],
        ],
      )
      test.match(await ask(runtime, 'b', 'endpoint'), /^b:\d+$/)
    },
  )

  check(
    'many concurrent requests get their own answers',
    [spec('a', 'echo'), spec('b', 'echo')],
    async (test, runtime) => {
      const answers = await Promise.all(
        Array.from({ length: 500 }, (_, i) => ask(runtime, i % 2 === 0 ? 'a' : 'b', 'echo', i)),
      )
      test.same(
        answers,
        Array.from({ length: 500 }, (_, value) => ({ value, from: 'cluster' })),
      )
    },
  )

  check(
    'a member that is down or unknown is unreachable at once',
    [spec('a', 'forwarder'), spec('b', 'echo')],
    async (test, runtime) => {
      test.same(await ask(runtime, 'a', 'forward', { to: 'unknown', operation: 'echo' }), {
        failed: 'unreachable',
        undelivered: true,
        to: 'unknown',
      })
      await runtime.crash('b')
      test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'echo' }), {
        failed: 'unreachable',
        undelivered: true,
        to: 'b',
      })
      await test.rejects(ask(runtime, 'b', 'echo'), {
        name: 'RequestFailedError',
        reason: 'unreachable',
        undelivered: true,
      })
      await runtime.crash('b')
      test.equal(runtime.members()[1]!.state, 'crashed', 'a second crash is not an error')
    },
  )

  check(
    'requests to a member fail when it crashes',
    [spec('a', 'forwarder'), spec('b', 'echo')],
    async (test, runtime) => {
      const step = await runtime.steps.arm('toy.wait', 'hold')
      const outside = ask(runtime, 'b', 'never').catch((error: unknown) => error as RequestFailedError)
      const inside = ask(runtime, 'a', 'forward', { to: 'b', operation: 'never' })
      const marker = ask(runtime, 'a', 'step', 'toy.wait')
      test.equal(await untilStruck(runtime, step), 'a', 'all requests have been sent')
      await ask(runtime, 'b', 'echo')
      await runtime.crash('b')
      test.match(await outside, { reason: 'unreachable', undelivered: false })
      test.same(await inside, { failed: 'unreachable', undelivered: false, to: 'b' })
      await runtime.steps.heal(step)
      test.equal(await marker, 'passed')
    },
  )

  check('a request without an answer times out', [spec('a', 'forwarder'), spec('b', 'echo')], async (test, runtime) => {
    test.same(await ask(runtime, 'a', 'forward', { to: 'b', operation: 'never', timeoutMs: 20 }), {
      failed: 'timed-out',
      undelivered: false,
      to: 'b',
    })
    test.equal(
      await ask(runtime, 'a', 'forward', { to: 'b', operation: 'after', argument: 5, timeoutMs: 10_000 }),
      'slept',
    )
  })

  check('a request ends when its signal aborts', [spec('a', 'forwarder'), spec('b', 'echo')], async (test, runtime) => {
    test.same(await ask(runtime, 'a', 'cancelAfter', { delayMs: 10, forward: { to: 'b', operation: 'never' } }), {
      failed: 'cancelled',
      undelivered: false,
      to: 'b',
    })
    test.equal(await ask(runtime, 'a', 'cancelTooLate', { to: 'b', operation: 'after', argument: 1 }), 'slept')
  })

  check(
    'timers fire in order, once, never early, and can be replaced and cleared',
    [spec('a', 'sleeper'), spec('b', 'echo')],
    async (test, runtime) => {
      const never = 3_600_000
      await ask(runtime, 'a', 'rearm', {
        // Timers that are due later are armed later: the thread may pause between any two.
        first: { c: never, replaced: never, cleared: never, a: 20, b: 40 },
        cleared: 'cleared',
        second: { cleared: never, c: 60, replaced: 100 },
      })
      let woken: { name: string; lateMs: number }[] = []
      while (woken.length < 5) {
        await ask(runtime, 'b', 'after', 20)
        woken = (await ask(runtime, 'a', 'woken')) as typeof woken
      }
      test.same(
        woken.map(({ name }) => name),
        ['early', 'a', 'b', 'c', 'replaced'],
      )
      test.ok(
        woken.every(({ lateMs }) => lateMs >= 0),
        'none before its time',
      )
    },
  )

  check(
    'messages of one pair arrive in order',
    [spec('a', 'forwarder'), spec('c', 'collector')],
    async (test, runtime) => {
      await ask(runtime, 'a', 'notices', { to: 'c', count: 50 })
      const { values } = (await ask(runtime, 'a', 'forward', { to: 'c', operation: 'collected' })) as {
        values: number[]
      }
      test.same(
        values,
        Array.from({ length: 50 }, (_, i) => i),
      )
    },
  )

  check(
    'the messages of one turn arrive in one packet',
    [spec('a', 'forwarder'), spec('c', 'collector')],
    async (test, runtime) => {
      const { values, packets } = (await ask(runtime, 'a', 'burst', { to: 'c', count: 100 })) as {
        values: number[]
        packets: number
      }
      test.equal(values.length, 100)
      test.equal(packets, 1)
    },
  )

  check('a crash keeps the disk and nothing else', [spec('a', 'counter')], async (test, runtime) => {
    const [before] = runtime.members()
    test.equal(await ask(runtime, 'a', 'add', 5), 5)
    test.equal(await ask(runtime, 'a', 'add', 6), 11)
    await runtime.crash('a')
    const restarted = await runtime.restart('a')
    test.match(restarted, { address: 'a', state: 'running', endpoint: before!.endpoint })
    test.equal(await ask(runtime, 'a', 'sum'), 11, 'from the log')
    test.equal(await ask(runtime, 'a', 'checkpoint'), 11)
    test.equal(await ask(runtime, 'a', 'add', 1), 12)
    await runtime.crash('a')
    await runtime.restart('a')
    test.equal(await ask(runtime, 'a', 'sum'), 12, 'from checkpoint and log')
    test.same(await runtime.describe('a'), { sum: 12 })
    await test.rejects(runtime.restart('a'), /only a crashed or stopped member/)
  })

  check(
    'appends above the limit of a disk fail',
    [spec('a', 'counter', { diskLimitBytes: 1000 }), spec('b', 'counter', { diskLimitBytes: 0 })],
    async (test, runtime) => {
      test.equal(await ask(runtime, 'a', 'fill', 900), 'written')
      test.equal(await ask(runtime, 'a', 'fill', 93), 'DiskFullError')
      test.equal(await ask(runtime, 'a', 'fill', 92), 'written', 'to the last byte')
      test.equal(await ask(runtime, 'b', 'fill', 0), 'DiskFullError')
    },
  )

  check(
    'the awaits of a crashed actor never resume',
    [spec('a', 'forwarder'), spec('b', 'forwarder'), spec('c', 'forwarder')],
    async (test, runtime) => {
      const own = await runtime.steps.arm('toy.own', 'hold')
      const late = await runtime.steps.arm('toy.late', 'hold')
      const lost = Promise.allSettled([
        ask(runtime, 'a', 'step', 'toy.own'),
        ask(runtime, 'a', 'resume', { to: 'b', operation: 'step', argument: 'toy.late' }),
      ])
      test.equal(await untilStruck(runtime, own), 'a')
      test.equal(await untilStruck(runtime, late), 'b')
      await runtime.crash('a')
      await runtime.restart('a')
      await runtime.steps.heal(own)
      await runtime.steps.heal(late)
      // Both answers, also that to the crashed actor, have been sent before this one.
      await ask(runtime, 'b', 'forward', { to: 'a', operation: 'resumed' })
      const resumed = [
        ...((await ask(runtime, 'a', 'resumed')) as string[]),
        ...((await ask(runtime, 'c', 'resumed')) as string[]),
      ]
      test.same(
        resumed.filter((entry) => entry === 'a after its request' || entry === 'a after toy.own'),
        [],
      )
      test.same(
        (await lost).map(({ status }) => status),
        ['rejected', 'rejected'],
      )
    },
  )

  check(
    'a fault can hold, fail or crash a member at a step',
    [spec('a', 'forwarder'), spec('b', 'forwarder')],
    async (test, runtime) => {
      test.equal(await ask(runtime, 'a', 'step', 'toy.step'), 'passed')
      const fail = await runtime.steps.arm('toy.step', 'fail', { addresses: ['a'], times: 1 })
      test.equal(await ask(runtime, 'b', 'step', 'toy.step'), 'passed', 'another member')
      test.equal(await ask(runtime, 'a', 'step', 'toy.other'), 'passed', 'another step')
      test.same(await ask(runtime, 'a', 'step', 'toy.step'), { failedStep: 'toy.step' })
      test.equal(await ask(runtime, 'a', 'step', 'toy.step'), 'passed', 'only once')
      test.equal(await runtime.steps.struck(fail), 'a')

      const hold = await runtime.steps.arm('toy.step', 'hold')
      const held = ask(runtime, 'b', 'step', 'toy.step')
      test.equal(await untilStruck(runtime, hold), 'b')
      await runtime.steps.heal(hold)
      test.equal(await held, 'passed')

      const crashed = nextEvent(runtime, (event) => event.type === 'member' && event.state === 'crashed')
      await runtime.steps.arm('toy.step', 'crash', { times: 1 })
      await test.rejects(ask(runtime, 'a', 'step', 'toy.step'), { name: 'RequestFailedError', reason: 'unreachable' })
      const event = await crashed
      test.match(event, { member: 'a' })
      test.notOk('error' in event, 'a fault is not an error')
      await runtime.restart('a')
      test.equal(await ask(runtime, 'a', 'step', 'toy.step'), 'passed', 'the fault has struck once already')
    },
  )

  check('messages to a starting member wait', [spec('b', 'echo')], async (test, runtime) => {
    const starting = runtime.start([
      spec('late', 'slowStarter', { options: { ask: 'twin', delayMs: 15 } }),
      spec('twin', 'echo'),
      spec('x', 'slowStarter', { options: { ask: 'late2', delayMs: 0 } }),
      spec('late2', 'echo'),
    ])
    await starting
    test.same(await ask(runtime, 'late', 'found'), { value: 'hello', from: 'late' })
    test.same(await ask(runtime, 'x', 'found'), { value: 'hello', from: 'x' })
    await runtime.crash('late')
    const restarting = runtime.restart('late')
    const waiting = ask(runtime, 'late', 'found')
    await restarting
    test.same(await waiting, { value: 'hello', from: 'late' })
  })

  check('events of watched types reach the listeners', [spec('a', 'forwarder')], async (test, runtime) => {
    test.equal(await ask(runtime, 'a', 'emitRouted'), 'unwanted')
    const line = nextEvent(runtime, (event) => event.type === 'log')
    await ask(runtime, 'a', 'log')
    test.match(await line, { type: 'log', member: 'a', level: 'info', message: 'a line', fields: { a: 1 } })
    runtime.watch(['routed', 'member'])
    const routed = nextEvent(runtime, (event) => event.type === 'routed')
    test.equal(await ask(runtime, 'a', 'emitRouted'), 'emitted')
    test.match(await routed, { mongos: 'a' })
    const states: string[] = []
    runtime.onEvent((event) => event.type === 'member' && states.push(`${event.member} ${event.state}`))
    await runtime.crash('a')
    await runtime.restart('a')
    await runtime.stop()
    test.same(states, ['a crashed', 'a started', 'a stopped'])
  })

  check(
    'each member and each incarnation has its own random draws',
    [spec('a', 'echo'), spec('b', 'echo')],
    async (test, runtime) => {
      const draws = [await ask(runtime, 'a', 'random'), await ask(runtime, 'b', 'random')]
      await runtime.crash('a')
      await runtime.restart('a')
      draws.push(await ask(runtime, 'a', 'random'))
      test.equal(new Set(draws).size, 3)
    },
  )

  check('an address can be given to one member only', [spec('a', 'echo')], async (test, runtime) => {
    await test.rejects(runtime.start([spec('a', 'echo')]), /already has a member a/)
    await test.rejects(runtime.start([spec('b', 'echo'), spec('b', 'echo')]), /already has a member b/)
    test.equal(runtime.members().length, 1)
    await test.rejects(runtime.start([spec('z', 'no-such-role')]), /no role no-such-role/)
    await test.rejects(runtime.crash('unknown'), /no member unknown/)
  })
}

/** A simulation advances the time until then. */
export async function untilStruck(runtime: Runtime, id: number): Promise<string> {
  const struck = runtime.steps.struck(id)
  let done = false
  void struck.then(() => (done = true))
  if (runtime.kind === 'simulated')
    while (!done) await (runtime as Runtime & { advance(ms: number): Promise<void> }).advance(1)
  return struck
}
