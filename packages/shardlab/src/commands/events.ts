import type { NumberedDelta, StreamedEvent } from '@shardlab/dashboard'
import { AdminConnection } from '../admin-client.js'
import { ConnectError } from '../connect-error.js'
import type { EventsOptions } from './events-options.js'
import { handleSignals } from './interruption.js'

/** A request that waits keeps the cluster from being copied, so it waits for a short time. */
const waitMs = 1000

interface EventsReply {
  readonly reader: string
  readonly deltas: readonly NumberedDelta[]
}

/** @throws ConnectError */
export async function events({ uri, snapshot, json }: EventsOptions): Promise<void> {
  if (snapshot === true && json !== true)
    throw new ConnectError('--snapshot prints deltas, which are JSON objects: add --json.')
  const connection = new AdminConnection(() => uri)
  const ask = async (fields: object): Promise<EventsReply> =>
    (await connection.reply({ shardlab: 'events', ...fields })) as unknown as EventsReply
  let isStopped = false
  const signals = handleSignals(() => {
    isStopped = true
  })
  // Its reader has ended, such as `head`.
  process.stdout.once('error', () => {
    isStopped = true
  })
  let reply = await ask({})
  const { reader } = reply
  try {
    for (let after = 0; !isStopped;) {
      for (const delta of reply.deltas) {
        write(delta, json === true)
        if (snapshot === true && delta.type === 'ready') return
      }
      after = reply.deltas.at(-1)?.number ?? after
      reply = await ask({ reader, after, waitMs })
    }
  } finally {
    signals.end()
    // If the cluster has gone, so has the reader.
    await ask({ reader, close: true }).catch(() => {})
    connection.close()
  }
}

function write(delta: NumberedDelta, isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify(delta)}\n`)
  else if (delta.type === 'event' && !isIdleRound(delta.event)) process.stdout.write(`${lineOf(delta.event)}\n`)
}

/** One a second on an idle cluster, it would hide everything else. */
function isIdleRound(event: StreamedEvent): boolean {
  if (event.type !== 'balancer-round') return false
  const { skipped, splits, migrations, blocked, defragmenting } = event
  return skipped === null && [splits, migrations, blocked, defragmenting].every(({ length }) => length === 0)
}

/** `12:00:00.000  split  ns=shop.orders shard=shard01 …` */
function lineOf({ type, atMs, ...fields }: StreamedEvent): string {
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [new Date(atMs).toISOString().slice(11, 23), type.padEnd(15), shown.join(' ')].join('  ')
}
