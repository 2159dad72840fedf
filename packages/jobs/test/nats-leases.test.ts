/** The lease of a job, through a proxy that loses and holds messages. */
import t from 'tap'
import { withoutNats, type Published } from '@shardlab/nats/testing'
import { OneServer, taking } from './support/one-server.js'

const skip = withoutNats

/** The subject of an acknowledgement has the stream, the consumer and the number of deliveries. */
const deliveriesOf = ({ subject }: Published): number => Number(subject.split('.')[4])
const isSign = ({ content }: Published): boolean => content === '+WPI'

t.test('an acknowledgement that is lost is repeated, and the job is played once', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const [proxy, bare, watch] = [await one.proxy(), await one.bareClient(), await one.watch()]
  const queue = await one.queue({ name: 'lost', ackWaitMs: 1500 })
  let sent = 0
  proxy.fateOf = ({ content }) => (content === '+ACK' && sent++ === 0 ? 'lose' : 'pass')
  const worker = one.worker({ url: proxy.url, concurrency: 1 })
  const result = queue.run({ key: 'a', input: { value: 'a' } })
  t.equal(await result, 'a')
  t.match(await worker.until(({ type }) => type === 'ended'), { how: 'stored' })
  t.ok(sent > 1, 'repeated')
  t.equal(await bare.jobs('lost'), 0)
  t.equal(watch.taken, 1)
})

t.test('signs of life do not wait behind a large result on a slow link', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const proxy = await one.proxy()
  const queue = await one.queue({ name: 'slow', ackWaitMs: 3000 })
  const under = { bytes: 0, bytesAtFirstSign: 0, signs: 0 }
  // The link passes no part of the result for longer than the lease of a job.
  const manySigns = new Promise<void>((resolve) => {
    proxy.fateOf = (published) => {
      if (published.subject.includes('.data.result.')) {
        under.bytes += published.content.length
        return 'hold'
      }
      if (isSign(published) && under.bytes > 0 && ++under.signs === 1) under.bytesAtFirstSign = under.bytes
      if (under.signs === 4) resolve()
      return 'pass'
    }
  })
  one.worker({ url: proxy.url, concurrency: 1 })
  const result = queue.run({ key: 'a', input: { value: 'x'.repeat(50), does: 'multiply' } })
  await manySigns
  t.ok(under.bytesAtFirstSign <= 140_000, `${under.bytesAtFirstSign} of 5,000,000 bytes are under way`)
  proxy.fateOf = () => 'pass'
  proxy.release()
  t.equal(await result, 'x'.repeat(5_000_000))
})

t.test('a job that its workers give back again and again is not lost', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue({ name: 'back' })
  const result = queue.run({ key: 'a', input: { value: 'a', does: 'wait' } })
  for (let i = 0; i < 6; i++) {
    const worker = one.worker({ concurrency: 1 })
    await Promise.race([worker.until(taking('a')), result])
    await worker.stop()
    t.match(worker.events.at(-1), { type: 'ended', key: 'a', how: 'returned' })
  }
  one.worker()
  queue.stop()
  t.equal(await result, 'a')
})

t.test('a job that was given back is withdrawn', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const queue = await one.queue({ name: 'withdrawn' })
  const result = queue.run({ key: 'a', input: { value: 'a', does: 'hang' } })
  const worker = one.worker()
  await worker.until(taking('a'))
  await worker.stop()
  await queue.withdraw()
  t.equal(await result, null)
  t.equal(await (await one.bareClient()).jobs('withdrawn'), 0)
})

t.test('a job that a worker takes twice is played once, and is given back', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const [proxy, bare] = [await one.proxy(), await one.bareClient()]
  const queue = await one.queue({ name: 'twice', ackWaitMs: 1000 })
  let isTwice = false
  const takenTwice = new Promise<void>((resolve) => {
    proxy.fateOf = (published) => {
      if (!isSign(published)) return 'pass'
      if (deliveriesOf(published) === 2) {
        isTwice = true
        resolve()
      }
      return 'lose'
    }
  })
  const worker = one.worker({ url: proxy.url, concurrency: 2 })
  const result = queue.run({ key: 'a', input: { value: 'a', does: 'hang' } })
  await worker.until(taking('a'))
  // With each further job the worker asks the server, which gives it the first one again.
  for (let i = 0; !isTwice; i++) {
    const further = queue.run({ key: `b${i}`, input: { value: 'b' } })
    await Promise.race([further, takenTwice])
  }
  t.equal(worker.events.filter(taking('a')).length, 1)
  await worker.stop()
  t.match(await worker.until((event) => event.type === 'ended' && event.key === 'a'), { how: 'returned' })
  t.ok((await bare.jobs('twice')) > 0)
  one.worker()
  queue.stop()
  t.equal(await result, 'a')
})

t.test('a job that is taken while its worker is stopped a second time is given back', { skip }, async (t) => {
  const one = await OneServer.start(t, { config: 'max_payload: 4096' })
  const proxy = await one.proxy()
  const queue = await one.queue({ name: 'early' })
  // The worker still reads the input of the job.
  const reading = new Promise<void>((resolve) => {
    proxy.fateOf = ({ subject }) => {
      if (!subject.startsWith('$JS.API.STREAM.MSG.GET.SHARDLAB_DATA_early') || !isTaken) return 'pass'
      resolve()
      return 'hold'
    }
  })
  let isTaken = false
  const worker = one.worker({ url: proxy.url, concurrency: 1 })
  void worker.until(taking('a')).then(() => (isTaken = true))
  const value = 'x'.repeat(20_000)
  const result = queue.run({ key: 'a', input: { value, does: 'hang' } })
  await reading
  const stopped = worker.stop()
  proxy.fateOf = () => 'pass'
  proxy.release()
  await stopped
  t.match(worker.events.at(-1), { type: 'ended', key: 'a', how: 'returned' })
  one.worker()
  queue.stop()
  t.equal(await result, value)
})
