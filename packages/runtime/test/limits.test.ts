import type { ClusterEvent } from '@shardlab/actor'
import t from 'tap'
import { createSimulatedRuntime, type HostLimits } from '../src/index.js'
import { toyRoles } from './support/toy-roles.js'
import { ask, spec } from './support/toy-world.js'

function limited(limits: Partial<HostLimits>) {
  const runtime = createSimulatedRuntime({ roles: toyRoles, seed: 1, limits })
  const reached: ClusterEvent[] = []
  runtime.onEvent((event) => event.type === 'limit' && reached.push(event))
  return { runtime, reached }
}

t.test('messages to a starting member are refused above the limit, with an event', async (test) => {
  const { runtime, reached } = limited({ waitingMessages: 3 })
  await runtime.start([spec('slow', 'slowStarter', { options: { ask: null, delayMs: 0 } })])
  await runtime.crash('slow')
  const slow = { ...spec('slower', 'slowStarter'), options: { ask: null, delayMs: 100 } }
  const starting = runtime.start([slow])
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => ask(runtime, 'slower', 'found')))
  await starting
  test.equal(answers.filter(({ status }) => status === 'fulfilled').length, 3)
  test.match(answers[4], { reason: { reason: 'unreachable', undelivered: true } })
  test.match(reached, [
    { member: 'slower', limit: 'waitingMessages', value: 3 },
    { member: 'slower', limit: 'waitingMessages' },
  ])
})

t.test('requests are refused while too many have no answer, with an event', async (test) => {
  const { runtime, reached } = limited({ outstandingRequests: 10 })
  await runtime.start([spec('b', 'echo')])
  const answers = await Promise.allSettled(Array.from({ length: 12 }, () => ask(runtime, 'b', 'after', 5)))
  test.equal(answers.filter(({ status }) => status === 'fulfilled').length, 10)
  test.match(answers[11], { reason: { reason: 'unreachable', undelivered: true } })
  test.match(reached, [{ member: 'cluster', limit: 'outstandingRequests', value: 10 }, {}])
  test.equal(await ask(runtime, 'b', 'after', 5), 'slept', 'accepted again')
})

t.test('a packet that reaches the limit is sent at once, with an event', async (test) => {
  const { runtime, reached } = limited({ packetBytes: 2000 })
  await runtime.start([spec('a', 'forwarder'), spec('c', 'collector')])
  const { values, packets } = (await ask(runtime, 'a', 'burst', { to: 'c', count: 100 })) as {
    values: number[]
    packets: number
  }
  test.same(
    values,
    Array.from({ length: 100 }, (_, i) => i),
    'still in order',
  )
  test.ok(packets > 3, `${packets} packets`)
  test.match(reached[0], { member: 'a', limit: 'packetBytes' })
})

t.test('after a packet that is sent early all others are sent at the end of the turn', async (test) => {
  const { runtime, reached } = limited({ packetBytes: 400 })
  await runtime.start([spec('a', 'forwarder'), ...['p', 'q', 'r'].map((address) => spec(address, 'collector'))])
  const long = Array.from({ length: 20 }, () => 'p')
  for (let round = 0; round < 2; round++) {
    const answers = (await ask(runtime, 'a', 'scatter', ['p', 'q', ...long, 'r', 'q'])) as { values: number[] }[]
    test.same(
      answers.map(({ values }) => values?.length),
      [21, 2, 1].map((count) => count * (round + 1)),
    )
  }
  test.match(reached[0], { member: 'a', limit: 'packetBytes' })
})
