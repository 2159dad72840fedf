import type { Msg, NatsConnection } from '@nats-io/transport-node'
import t from 'tap'
import { NatsBroker } from '../src/nats/index.js'

type Callback = (error: Error | null, message: Msg) => void

t.test('a message that cannot be read is reported, and the next one is received', async (t) => {
  let deliver: Callback = () => {}
  const connection = {
    subscribe: (_: string, { callback }: { callback: Callback }) => (deliver = callback),
    async *status() {},
  } as unknown as NatsConnection
  const errors: string[] = []
  const broker = new NatsBroker(
    connection,
    async () => {},
    (error) => errors.push((error as Error).message),
  )
  const received: number[] = []
  broker.subscribe('a.*', ({ content }) => {
    if (content.length === 0) throw new RangeError('it is empty')
    received.push(content.length)
  })
  const send = (bytes: number): void => deliver(null, { subject: 'a.b', data: new Uint8Array(bytes) } as unknown as Msg)
  for (let i = 0; i < 99; i++) send(0)
  send(3)
  t.same(received, [3])
  t.same(errors, [
    'it cannot be read, with the subject a.b: it is empty',
    'it and 9 before it cannot be read, with the subject a.b: it is empty',
  ])
})
