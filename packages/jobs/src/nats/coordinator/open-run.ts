/** Creates the streams of a run, or finds those that an earlier coordinator has left. */
import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { OptionError } from '@shardlab/nats'
import { aboutOf } from '../about.js'
import { pack } from '../codec.js'
import { isNotFound, persist, publish, type JetStream } from '../jet-stream.js'
import type { About } from '../messages.js'
import { consumerName, type RunNames } from '../names.js'
import { CoordinatorLock } from './coordinator-lock.js'

const ackWaitMsDefault = 15_000
/** A job that ends the process of its worker is given to so many, and to as many when repeated. */
const deliveriesMax = 2

export interface OpenRun {
  /** It was on the server. */
  readonly isResumed: boolean
  readonly lock: CoordinatorLock
}

/** @throws OptionError if it has other parameters or a coordinator */
export async function openRun(
  jetStream: JetStream,
  names: RunNames,
  about: About,
  ackWaitMs = ackWaitMsDefault,
): Promise<OpenRun> {
  const { manager } = jetStream
  const addData = async (): Promise<void> => {
    await persist(jetStream, () =>
      manager.streams.add({
        name: names.dataStream,
        subjects: [`shardlab.jobs.${names.name}.data.>`],
        storage: StorageType.File,
      }),
    )
  }
  // First, so that one with other options does not replace a coordinator that is cut off.
  checkSame(names.name, await aboutOf(jetStream, names), about)
  const lock = await CoordinatorLock.take(jetStream, names, addData)
  try {
    const found = await aboutOf(jetStream, names)
    checkSame(names.name, found, about)
    if (found === null) await publish(jetStream, names.dataStream, names.about, pack(about))
    await addTodo(jetStream, names, ackWaitMs)
    return { isResumed: found !== null, lock }
  } catch (error) {
    lock.end()
    throw error
  }
}

/** Workers find a run by this stream, so it is the last one. */
async function addTodo(jetStream: JetStream, names: RunNames, ackWaitMs: number): Promise<void> {
  const { manager } = jetStream
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
  // An earlier coordinator may have had another time.
  if (await hasConsumer(jetStream, names)) return
  await persist(jetStream, () =>
    manager.consumers.add(names.todoStream, {
      durable_name: consumerName,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_deliver: deliveriesMax,
      max_ack_pending: -1,
    }),
  )
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

/** @param found null: the run is not on the server */
function checkSame(name: string, found: About | null, wanted: About): void {
  if (found === null) return
  const different = (['kind', 'version', 'parameters'] as const).find((field) => found[field] !== wanted[field])
  if (different === undefined) return
  const what = {
    kind: `is a ${found.kind}, and this is a ${wanted.kind}`,
    version: `was begun by Shardlab ${found.version}, and this is ${wanted.version}`,
    parameters: 'was begun with other options',
  }[different]
  throw new OptionError(`the job ${name} ${what}: use another name`)
}
