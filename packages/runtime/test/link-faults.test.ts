import t from 'tap'
import {
  createSimulatedRuntime,
  type LinkEffect,
  type LinkFault,
  type NewLinkFault,
  type SimulatedRuntime,
} from '../src/index.js'
import { toyRoles } from './support/toy-roles.js'
import { ask, spec } from './support/toy-world.js'

/** One millisecond each way. */
async function world(seed = 1): Promise<SimulatedRuntime> {
  const runtime = createSimulatedRuntime({ roles: toyRoles, seed, latency: { minMicros: 1000, maxMicros: 1000 } })
  await runtime.start([spec('a', 'forwarder'), spec('b', 'echo'), spec('c', 'forwarder')])
  return runtime
}

function link(
  from: LinkFault['from'],
  to: LinkFault['to'],
  effect: LinkEffect,
  rest: Partial<NewLinkFault> = {},
): NewLinkFault {
  return {
    scope: 'link',
    effect,
    from,
    to,
    bothWays: true,
    kinds: null,
    times: null,
    probability: 1,
    seed: null,
    ...rest,
  }
}

const forward = (runtime: SimulatedRuntime, operation = 'echo', argument: unknown = 1, from = 'a') =>
  ask(runtime, from, 'forward', { to: 'b', operation, argument })

const lost = { failed: 'unreachable', undelivered: false, to: 'b' }
const refused = { failed: 'unreachable', undelivered: true, to: 'b' }
const fine = { value: 1, from: 'a' }

t.test(
  'a lost message breaks the connection: every request on it fails, and the next one opens another',
  async (test) => {
    const runtime = await world()
    const waiting = forward(runtime, 'after', 1000)
    await runtime.advance(10)
    const id = await runtime.faults.apply(link(['a'], ['b'], { type: 'drop' }, { times: 1 }))
    const elsewhere = forward(runtime, 'echo', 1, 'c')
    test.same(await forward(runtime), lost)
    test.same(await waiting, lost, 'both ends notice')
    test.same(await elsewhere, { value: 1, from: 'c' }, 'another link is not affected')
    test.same(await forward(runtime), fine, 'it struck once')
    test.equal(runtime.faults.strikes(id), 1)
    await runtime.faults.heal(id)
  },
)

t.test('messages are lost with the given probability, and the seed decides which', async (test) => {
  const story = async (seed: number): Promise<string> => {
    const runtime = await world(seed)
    const id = await runtime.faults.apply(
      link('members', 'members', { type: 'drop' }, { probability: 0.1, bothWays: false }),
    )
    let outcomes = ''
    for (let i = 0; i < 200; i++)
      outcomes += JSON.stringify(await forward(runtime)) === JSON.stringify(fine) ? '.' : 'x'
    await runtime.faults.heal(id)
    test.same(await forward(runtime), fine, 'healed')
    return outcomes
  }
  const [first, again, other] = [await story(5), await story(5), await story(6)]
  test.equal(first, again)
  test.not(first, other)
  const losses = [...first].filter((outcome) => outcome === 'x').length
  test.ok(losses > 15 && losses < 65, `${losses} of 400 messages of 200 requests and answers`)
})

t.test('messages under way during a short partition arrive in order when it is healed', async (test) => {
  const runtime = await world()
  const id = await runtime.faults.apply(
    link(['a'], ['b'], { type: 'partition', silenceMs: 10_000 }, { bothWays: false }),
  )
  const answers = [forward(runtime, 'echo', 1), forward(runtime, 'echo', 2)]
  await runtime.advance(5000)
  await runtime.faults.heal(id)
  test.same(await Promise.all(answers), [fine, { value: 2, from: 'a' }])
})

t.test('after a long partition requests fail, and further ones are refused', async (test) => {
  for (const bothWays of [true, false]) {
    const runtime = await world()
    const began = runtime.now()
    await runtime.faults.apply(link(['b'], 'everybody', { type: 'partition', silenceMs: 10_000 }, { bothWays }))
    test.same(await forward(runtime), lost)
    test.ok(runtime.now() - began >= 10_000 && runtime.now() - began < 10_100)
    test.same(await forward(runtime), refused)
    test.type(await ask(runtime, 'a', 'forward', { to: 'c', operation: 'resumed' }), Array, 'others talk')
  }
})

t.test('a partition of some kinds withholds only those', async (test) => {
  const runtime = await world()
  await runtime.faults.apply(link(['a'], ['b'], { type: 'partition', silenceMs: 500 }, { times: 1 }))
  const kept = forward(runtime)
  await runtime.advance(10)
  test.same(await forward(runtime), fine)
  test.same(await kept, lost)
  await runtime.faults.apply(link(['a'], ['b'], { type: 'partition', silenceMs: 500 }, { kinds: ['shard.introduce'] }))
  test.same(await forward(runtime), fine)
})

t.test('delayed messages keep their order, and a slow member takes one message after the other', async (test) => {
  const runtime = await world()
  const took = async (work: () => Promise<unknown>): Promise<number> => {
    const began = runtime.now()
    await work()
    return runtime.now() - began
  }
  const id = await runtime.faults.apply(link(['a'], ['b'], { type: 'delay', minMs: 100, maxMs: 200 }))
  const lateMs = await took(() => forward(runtime))
  test.ok(lateMs >= 200 && lateMs <= 405, `${lateMs} ms for both ways`)
  await runtime.faults.heal(id)
  test.ok((await took(() => forward(runtime))) < 10)
  await runtime.faults.apply(link('everybody', ['b'], { type: 'slow', perMessageMs: 50 }, { bothWays: false }))
  test.ok(
    (await took(() => Promise.all([forward(runtime), forward(runtime), forward(runtime, 'echo', 1, 'c')]))) >= 150,
  )
})

t.test('requests to a member that refuses connections fail as undelivered', async (test) => {
  const runtime = await world()
  const id = await runtime.faults.apply(link('members', ['b'], { type: 'refuse' }, { bothWays: false }))
  test.same(await forward(runtime), refused)
  await runtime.faults.heal(id)
  test.same(await forward(runtime), fine)
})

t.test('a cut answer is lost, though its request was served', async (test) => {
  const runtime = await world()
  await runtime.start([spec('d', 'counter')])
  const add = () => ask(runtime, 'a', 'forward', { to: 'd', operation: 'add', argument: 1 })
  await runtime.faults.apply(link(['d'], 'members', { type: 'cut' }, { bothWays: false, times: 1 }))
  test.same(await add(), { failed: 'unreachable', undelivered: false, to: 'd' })
  test.equal(await add(), 2)
})

t.test('the number of strikes counts all links of a fault together', async (test) => {
  const runtime = await world()
  await runtime.start([spec('d', 'echo')])
  const id = await runtime.faults.apply(link('members', 'members', { type: 'drop' }, { bothWays: false, times: 3 }))
  const outcomes: unknown[] = []
  const links = [
    ['a', 'b'],
    ['c', 'd'],
  ] as const
  for (const [from, to] of [...links, ...links])
    outcomes.push(await ask(runtime, from, 'forward', { to, operation: 'echo', argument: 1 }))
  test.match(outcomes, [{ failed: 'unreachable' }, { failed: 'unreachable' }, { failed: 'unreachable' }, { value: 1 }])
  test.equal(runtime.faults.strikes(id), 3)
})

t.test('a limit of bytes per second applies to each direction of each link', async (test) => {
  const runtime = await world()
  const took = async (...work: (() => Promise<unknown>)[]): Promise<number> => {
    const began = runtime.now()
    await Promise.all(work.map((each) => each()))
    return runtime.now() - began
  }
  const long = 'x'.repeat(100_000)
  const id = await runtime.faults.apply(
    link(['a'], ['b'], { type: 'limit', bytesPerSecond: 100_000 }, { bothWays: false }),
  )
  const onceMs = await took(() => forward(runtime, 'echo', long))
  test.ok(onceMs >= 1000 && onceMs < 1020, `${onceMs} ms: the answer is not limited`)
  const twiceMs = await took(
    () => forward(runtime, 'echo', long),
    () => forward(runtime, 'echo', long),
  )
  test.ok(twiceMs >= 2000 && twiceMs < 2040, `${twiceMs} ms: one after the other`)
  test.ok((await took(() => forward(runtime, 'echo', long, 'c'))) < 10, 'another link is not limited')
  const waiting = forward(runtime, 'echo', long)
  await runtime.advance(10)
  test.ok((await took(() => runtime.faults.heal(id).then(() => forward(runtime)))) < 1000)
  test.same(await waiting, { value: long, from: 'a' })
})
