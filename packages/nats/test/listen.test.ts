import t from 'tap'
import { connectNats, listen } from '../src/index.js'
import { NatsServer, withoutNats } from './support/index.js'

t.test('messages that cannot be read are reported now and then', { skip: withoutNats }, async (t) => {
  const server = await NatsServer.start()
  t.teardown(() => server.stop())
  const news: string[] = []
  const link = await connectNats(server, 'listener', (sentence) => news.push(sentence))
  t.teardown(() => link.close())
  const read = new Promise<unknown>((resolve) =>
    listen(link, 'a.*', ({ data }) => resolve(JSON.parse(Buffer.from(data).toString()))),
  )
  for (let i = 0; i < 99; i++) link.connection.publish('a.b', 'no JSON')
  link.connection.publish('a.b', '7')
  t.equal(await read, 7, 'the next message is received')
  t.match(news, [
    /^NATS at nats:\S+: a message with the subject a\.b cannot be read and is ignored: Unexpected token/,
    /^NATS at nats:\S+: 10 messages with subjects such as a\.b could not be read and were ignored, the last one: /,
  ])
  t.equal(news.length, 2)
})
