/** Coordinators of one name. */
import t from 'tap'
import { withoutNats } from '@shardlab/nats/testing'
import { aboutOf } from '../src/nats/about.js'
import { openJetStream } from '../src/nats/jet-stream.js'
import { namesOf } from '../src/nats/names.js'
import { connectNats } from '@shardlab/nats'
import { OneServer } from './support/one-server.js'

const skip = withoutNats

t.test('of several coordinators that start at once with one name, one runs the job', { skip }, async (t) => {
  const one = await OneServer.start(t)
  one.worker()
  const link = await connectNats(one.server, 'reader')
  t.teardown(() => link.close())
  const jetStream = await openJetStream(link)
  // On a busy machine nats-server 2.9 sometimes dies here, so short runs do this once.
  for (const name of process.env['SHARDLAB_LONG'] === '1' ? ['a', 'b', 'c', 'd'] : ['a']) {
    const started = await Promise.allSettled(
      ['left', 'middle', 'right'].map(async (side) => ({ side, queue: await one.queue({ name, parameters: side }) })),
    )
    const winners = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    t.equal(winners.length, 1, 'one has begun')
    const message = new RegExp(`^the job ${name} (at nats:\\S+ is run by process|was begun with other options)`)
    for (const each of started) if (each.status === 'rejected') t.match(each.reason, { name: 'OptionError', message })
    const [winner] = winners
    const about = await aboutOf(jetStream, namesOf(name))
    await winner!.queue.end()
    const again = await one.queue({ name, parameters: winner!.side })
    t.same(await aboutOf(jetStream, namesOf(name)), about, 'its options were those of the job')
    t.equal(await again.run({ key: 'k', input: { value: name } }), name)
    await again.end()
  }
  t.same(await (await one.bareClient()).streams(), [])
})

t.test('a coordinator that does not answer is replaced, and leaves the job to its successor', { skip }, async (t) => {
  const one = await OneServer.start(t)
  const [proxy, bare] = [await one.proxy(), await one.bareClient()]
  const first = await one.queue({ name: 'deaf', nats: { url: proxy.url } })
  const replaced = t.rejects(first.run({ key: 'a', input: { value: 'of the first' } }), {
    name: 'OptionError',
    message: /^the job deaf at nats:\S+ is now run by process \d+ on \S+, because this one did not answer$/,
  })
  // So that the job is published.
  while ((await bare.jobs('deaf')) === 0) await new Promise(setImmediate)
  proxy.fateOf = ({ subject }) => (subject.startsWith('_INBOX.') ? 'lose' : 'pass')
  const second = await one.queue({ name: 'deaf' })
  t.equal(second.isResumed, true)
  await replaced
  await first.end()
  const result = second.run({ key: 'a', input: { value: 'of the second' } })
  one.worker()
  t.equal(await result, 'of the first', 'the job that was published is played')
})
