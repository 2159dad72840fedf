/** Creates the streams of a run, or finds those that an earlier coordinator has left. */
import { hostname } from 'node:os'
import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { nanos, type Subscription } from '@nats-io/transport-node'
import { listen, OptionError } from '@shardlab/nats'
import { aboutOf } from '../about.js'
import { pack, unpack } from '../codec.js'
import { isNotFound, persist, publish, type JetStream } from '../jet-stream.js'
import type { About } from '../messages.js'
import { consumerName, type RunNames } from '../names.js'

const ackWaitMsDefault = 15_000
/** A job that ends the process of its worker is given to so many. */
const deliveriesMax = 2
const answerMs = 1000

/**
 * @returns whether the run was on the server
 * @throws OptionError if it has other parameters or a coordinator
 */
export async function openRun(
  jetStream: JetStream,
  names: RunNames,
  about: About,
  ackWaitMs = ackWaitMsDefault,
): Promise<boolean> {
  const { manager } = jetStream
  const found = await aboutOf(jetStream, names)
  if (found !== null) checkSame(names.name, found, about)
  await persist(jetStream, () =>
    manager.streams.add({
      name: names.dataStream,
      subjects: [`shardlab.jobs.${names.name}.data.>`],
      storage: StorageType.File,
    }),
  )
  if (found === null) await publish(jetStream, names.dataStream, names.about, pack(about))
  // Workers find a run by this stream, so it is the last one.
  await persist(jetStream, () =>
    manager.streams.add({
      name: names.todoStream,
      subjects: [names.todo('*')],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      max_msgs_per_subject: 1,
    }),
  )
  if (found === null || !(await hasConsumer(jetStream, names)))
    await persist(jetStream, () =>
      manager.consumers.add(names.todoStream, {
        durable_name: consumerName,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        max_deliver: deliveriesMax,
        max_ack_pending: -1,
      }),
    )
  return found !== null
}

/**
 * Answers other coordinators until the subscription ends.
 * @throws OptionError if the run has a coordinator
 */
export async function becomeCoordinator({ link }: JetStream, { name, coordinator }: RunNames): Promise<Subscription> {
  const { connection, address } = link
  const other = await connection.request(coordinator, undefined, { timeout: answerMs }).catch(() => null)
  if (other !== null)
    throw new OptionError(
      `the job ${name} at ${address} is run by process ${unpack<string>(other.data)}: use another name, or wait until it has ended`,
    )
  const me = pack(`${process.pid} on ${hostname()}`)
  return listen(connection, coordinator, (message) => void message.respond(me))
}

async function hasConsumer(jetStream: JetStream, { todoStream }: RunNames): Promise<boolean> {
  try {
    await persist(jetStream, () => jetStream.manager.consumers.info(todoStream, consumerName))
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

function checkSame(name: string, found: About, wanted: About): void {
  const different = (['kind', 'version', 'parameters'] as const).find((field) => found[field] !== wanted[field])
  if (different === undefined) return
  const what = {
    kind: `is a ${found.kind}, and this is a ${wanted.kind}`,
    version: `was begun by Shardlab ${found.version}, and this is ${wanted.version}`,
    parameters: 'was begun with other options',
  }[different]
  throw new OptionError(`the job ${name} ${what}: use another name`)
}
