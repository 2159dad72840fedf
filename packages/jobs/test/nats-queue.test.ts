/** Coordinators and workers on Debian's nats-server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { jetstream } from '@nats-io/jetstream'
import t from 'tap'
import { pack } from '../src/nats/codec.js'
import { namesOf } from '../src/nats/names.js'
import { withoutNats } from '@shardlab/nats/testing'
import { OneServer, taking } from './support/one-server.js'

const skip = withoutNats

t.test('workers return results, errors and messages, and a run that ended leaves nothing', { skip }, async (t) => {
  // Results and inputs of several messages, too.
  const one = await OneServer.start(t, { config: 'max_payload: 4096' })
  const queue = await one.queue()
  one.worker()
  const value = { floats: new Float64Array([0.5, 1e300]), text: 'x'.repeat(20_000), none: undefined, not: Number.NaN }
  t.same(await queue.run({ key: 'large', input: { value } }), value)
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}`)
  t.same(await Promise.all(keys.map((key) => queue.run({ key, input: { value: key } }))), keys)
  await t.rejects(queue.run({ key: 'd', input: { value: 7, does: 'fail' } }), { name: 'RangeError', message: 'no 7' })
  await t.rejects(queue.run({ key: 'e', input: { value: 7, does: 'hang' }, msMax: 10 }), { name: 'JobTimeoutError' })
  const asked: unknown[] = []
  const onMessage = (message: unknown): void => {
    asked.push(message)
    queue.post('f', 'reply')
  }
  t.equal(await queue.run({ key: 'f', input: { value: 8, does: 'ask' }, onMessage }), 'reply')
  t.same(asked, [{ asks: 8 }])
  const bare = await one.bareClient()
  t.equal((await bare.streams()).length, 2)
  await queue.end()
  t.same(await bare.streams(), [])
})

t.test('the smallest messages carry an input whose list of parts exceeds one', { skip }, async (t) => {
  const one = await OneServer.start(t, { config: 'max_payload: 1024' })
  const queue = await one.queue()
  one.worker()
  const value = 'x'.repeat(300_000)
  t.equal(await queue.run({ key: 'large', input: { value } }), value)
  await queue.end()
})

t.test('a job whose worker died is played by another one, and counted once', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue({ name: 'deaths', ackWaitMs: 50 })
  const bare = await one.bareClient()
  const result = queue.run({ key: 'a', input: { value: 'a' } })
  await bare.take('deaths')
  one.worker()
  t.equal(await result, 'a')
  // The dead one had stored its result, too.
  const names = namesOf('deaths')
  const late = { attempt: 'late', part: 0, parts: 1, bytes: pack({ output: 'another' }) }
  await jetstream(bare.connection).publish(names.result('a'), pack(late))
  t.equal(await queue.run({ key: 'b', input: { value: 'b' } }), 'b', 'results are read in their order')
})

t.test('a job that is acknowledged without a result is published again', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue({ name: 'lies' })
  const bare = await one.bareClient()
  const result = queue.run({ key: 'a', input: { value: 'a' } })
  await (await bare.take('lies')).ackAck()
  one.worker()
  t.equal(await result, 'a')
})

t.test('a job that ends all its workers is reported as lost, and the others are played', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue({ name: 'poison', ackWaitMs: 50 })
  const bare = await one.bareClient()
  const lost = t.rejects(queue.run({ key: 'a', input: { value: 'a' } }), { name: 'JobLostError' })
  for (let taken = 0; taken < 4; taken++) t.match((await bare.take('poison')).subject, /\.a$/)
  // The server counts deliveries when a worker asks.
  one.worker()
  await lost
  t.equal(await queue.run({ key: 'b', input: { value: 'b' } }), 'b')
})

t.test('a coordinator that is killed and started again gets the stored results', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const worker = one.worker()
  const script = fileURLToPath(new URL('support/cut-off-coordinator.js', import.meta.url))
  const first = spawn(process.execPath, [script, one.server.url, 'again'], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(first.stdout, 'data')
  await t.rejects(one.queue({ name: 'again' }), {
    name: 'OptionError',
    message: new RegExp(`^the job again at nats://\\S+ is run by process ${first.pid} on `),
  })
  first.kill('SIGKILL')
  await once(first, 'exit')
  const wrong = { name: 'OptionError', message: 'the job again was begun with other options: use another name' }
  await t.rejects(one.queue({ name: 'again', parameters: 'others' }), wrong)
  await t.rejects(one.queue({ name: 'again', version: '2' }), /begun by Shardlab 1, and this is 2/)
  const queue = await one.queue({ name: 'again' })
  t.equal(queue.isResumed, true)
  t.equal(queue.stored, 2)
  const results = ['a', 'b', 'c', 'd'].map((key) => queue.run({ key, input: { value: `${key} of the second` } }))
  queue.stop()
  t.same(await Promise.all(results), ['a of the first', 'b of the first', 'c of the first', 'd of the second'])
  const taken = worker.events.flatMap((event) => (event.type === 'taken' ? [event.key] : []))
  t.same(taken.sort(), ['a', 'b', 'c', 'd'], 'finished jobs are not played again')
})

t.test('a worker of another version leaves jobs to others, with one sentence for each run', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue({ name: 'versions' })
  const other = one.worker({ version: '2' })
  const result = queue.run({ key: 'a', input: { value: 'a' } })
  const own = one.worker()
  t.equal(await result, 'a')
  t.equal(await queue.run({ key: 'b', input: { value: 'b' } }), 'b')
  await other.stop()
  t.match(other.events, [{ type: 'ready' }, { type: 'refused', run: 'versions', version: '1' }])
  t.equal(other.events.length, 2)
  t.equal(own.events.filter(({ type }) => type === 'taken').length, 2)
})

t.test('two runs on one server share its workers, and end independently', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const [left, right] = [await one.queue(), await one.queue()]
  const ofLeft = ['a', 'b', 'c'].map((key) => left.run({ key, input: { value: `left ${key}` } }))
  const ofRight = ['a', 'b', 'c'].map((key) => right.run({ key, input: { value: `right ${key}` } }))
  one.worker({ concurrency: 1 })
  t.same(await Promise.all(ofLeft), ['left a', 'left b', 'left c'])
  await left.end()
  t.same(await Promise.all(ofRight), ['right a', 'right b', 'right c'])
})

t.test('jobs that no worker has taken are withdrawn, and running ones stop', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const [queue, bare] = [await one.queue({ name: 'withdrawal' }), await one.bareClient()]
  const worker = one.worker({ concurrency: 1 })
  const running = queue.run({ key: 'a', input: { value: 'a', does: 'wait' } })
  await worker.until(taking())
  const waiting = ['b', 'c'].map((key) => queue.run({ key, input: { value: key } }))
  await queue.withdraw()
  t.same(await Promise.all(waiting), [null, null])
  t.equal(await bare.leases('withdrawal'), 1, 'the job in progress keeps its lease')
  queue.stop()
  t.equal(await running, 'a')
  t.equal(await queue.run({ key: 'd', input: { value: 'd' } }), 'd', 'a job after the withdrawal is played')
})

t.test('jobs in progress end with their run, and a worker in a hurry gives its jobs back', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const ended = await one.queue({ name: 'ended' })
  const worker = one.worker({ concurrency: 1 })
  const abandoned = ended.run({ key: 'a', input: { value: 'a', does: 'hang' } })
  abandoned.catch(() => {})
  await worker.until(taking())
  await ended.end()
  const next = await one.queue({ name: 'next' })
  const result = next.run({ key: 'b', input: { value: 'b', does: 'wait' } })
  await worker.until(taking('b'))
  t.match(
    worker.events.find((event) => event.type === 'ended'),
    { run: 'ended', how: 'dropped' },
  )
  await worker.stop()
  t.match(worker.events.at(-1), { type: 'ended', run: 'next', how: 'returned' })
  one.worker()
  next.stop()
  t.equal(await result, 'b')
})

t.test('coordinator and worker continue after a restart of the server', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue()
  const worker = one.worker({ concurrency: 1 })
  const running = queue.run({ key: 'a', input: { value: 'a', does: 'wait' } })
  const waiting = queue.run({ key: 'b', input: { value: 'b' } })
  await worker.until(taking())
  await one.server.kill()
  await one.server.restart()
  // Messages that are not stored are lost until the worker is connected again.
  const stopping = setInterval(() => queue.stop(), 50)
  t.teardown(() => clearInterval(stopping))
  t.equal(await running, 'a')
  t.equal(await waiting, 'b')
})

t.test('a server that is gone ends coordinator and worker with one sentence each', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const { url } = one.server
  const queue = await one.queue({ nats: { url, goneMs: 100 } })
  const worker = one.worker({ goneMs: 100 })
  const result = queue.run({ key: 'a', input: { value: 'a', does: 'hang' } })
  await worker.until(taking())
  const gone = {
    name: 'OptionError',
    message: `NATS at ${url} has been gone for 0.1 seconds: start it again, then this command`,
  }
  const both = [t.rejects(result, gone), t.rejects(worker.ended, gone)]
  await one.server.kill()
  await Promise.all(both)
})
