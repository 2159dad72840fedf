import t from 'tap'
import { callerQueue, threadQueue, type JobQueue } from '../src/index.js'
import { echoJobs } from './support/echo-jobs.js'
import type { EchoInput } from './support/echo.js'

t.test('a queue on threads returns results, errors and messages', async (t) => {
  const queue = threadQueue(echoJobs, 2)
  t.teardown(() => queue.end())
  t.equal(queue.depth, 2)
  t.same(await Promise.all(['a', 'b', 'c'].map((key) => queue.run({ key, input: { value: key } }))), ['a', 'b', 'c'])
  await t.rejects(queue.run({ key: 'd', input: { value: 7, does: 'fail' } }), { name: 'RangeError', message: 'no 7' })
  const asked: unknown[] = []
  const onMessage = (message: unknown): void => {
    asked.push(message)
    queue.post('e', 'reply')
  }
  t.equal(await queue.run({ key: 'e', input: { value: 8, does: 'ask' }, onMessage }), 'reply')
  t.same(asked, [{ asks: 8 }])
  await t.rejects(queue.run({ key: 'f', input: { value: 9, does: 'hang' }, msMax: 10 }), { name: 'JobTimeoutError' })
})

t.test('waiting jobs are withdrawn, running ones learn that they are stopped', async (t) => {
  const queue = threadQueue(echoJobs, 1)
  t.teardown(() => queue.end())
  const running = queue.run({ key: 'a', input: { value: 'a', does: 'wait' } })
  const waiting = queue.run({ key: 'b', input: { value: 'b' } })
  await queue.withdraw()
  t.equal(await waiting, null)
  const later = queue.run({ key: 'c', input: { value: 'c' } })
  queue.stop()
  t.equal(await running, 'a')
  t.equal(await later, 'c', 'a job after the withdrawal is played')
})

t.test('a queue in the thread of the caller plays one job after the other', async (t) => {
  const order: string[] = []
  const queue: JobQueue<EchoInput, unknown> = callerQueue(async ({ input, post }) => {
    order.push(`begin ${String(input.value)}`)
    await Promise.resolve()
    post('half')
    order.push(`end ${String(input.value)}`)
    if (input.does === 'fail') throw new Error('no')
    return input.value
  })
  const failing = queue.run({ key: 'a', input: { value: 'a', does: 'fail' } })
  const messages: unknown[] = []
  const second = queue.run({ key: 'b', input: { value: 'b' }, onMessage: (message) => messages.push(message) })
  await t.rejects(failing, /no/)
  t.equal(await second, 'b')
  t.same(messages, ['half'])
  t.same(order, ['begin a', 'end a', 'begin b', 'end b'])
})
