/** Plays a job that a worker has taken, stores its result, and acknowledges it. */
import type { JsMsg } from '@nats-io/jetstream'
import { OptionError, messageOf } from '@shardlab/nats'
import type { JobThreads } from '../../threads/job-threads.js'
import { plainError, type JobOutcome } from '../../threads/thread-job.js'
import { pack, unpack } from '../codec.js'
import { isNoMessage, isNotFound, persist, publish, type JetStream } from '../jet-stream.js'
import type { ResultPart, TodoMessage, UpMessage } from '../messages.js'
import { keyOf, newId } from '../names.js'
import { join, split } from '../parts.js'
import type { Run } from './run.js'
import type { WorkerEvent } from './worker-event.js'

/** Signs of life within the time after which the server gives a job to another worker. */
const signsPerWait = 3

export interface Player {
  readonly jetStream: JetStream
  readonly partBytes: number
  readonly threads: JobThreads<unknown, unknown>
  readonly onEvent: (event: WorkerEvent) => void
  /** Jobs that are cancelled are for other workers. */
  readonly isReturning: () => boolean
}

/** @throws OptionError if the server is gone */
export async function playJob(player: Player, run: Run, message: JsMsg): Promise<void> {
  const key = keyOf(message.subject)
  const working = setInterval(() => message.working(), run.ackWaitMs / signsPerWait)
  const how = await play(player, run, message, key).finally(() => clearInterval(working))
  player.onEvent({ type: 'ended', run: run.names.name, key, how })
}

async function play(
  player: Player,
  run: Run,
  message: JsMsg,
  key: string,
): Promise<Extract<WorkerEvent, { type: 'ended' }>['how']> {
  const { jetStream, threads, onEvent } = player
  const attempt = newId()
  const up = (sent: Omit<UpMessage, 'attempt'>): void => {
    const { connection } = jetStream.link
    if (!connection.isClosed()) connection.publish(run.names.up(key), pack({ attempt, ...sent } satisfies UpMessage))
  }
  onEvent({ type: 'taken', run: run.names.name, kind: run.kind.name, key })
  try {
    const { input, msMax } = await inputOf(jetStream, run, message)
    if (run.isEnded) return 'dropped'
    up({ type: 'taken', content: null })
    const refusal = run.kind.refusal?.(input) ?? null
    const outcome =
      refusal === null
        ? await outcomeOf(() => {
            const job = threads.play(input, msMax ?? undefined, (sent) => up({ type: 'message', content: sent }))
            run.running.set(key, job)
            return job.outcome
          })
        : { error: plainError(new OptionError(refusal)) }
    if (player.isReturning()) {
      message.nak()
      return 'returned'
    }
    if (run.isEnded) return 'dropped'
    await store(player, run, key, attempt, outcome)
    await persist(jetStream, () => message.ackAck())
    return 'stored'
  } catch (error) {
    if (isNotFound(error) || isNoMessage(error)) return 'dropped'
    if (jetStream.link.error() !== null) throw error
    up({ type: 'failed', content: messageOf(error) })
    return 'failed'
  } finally {
    run.running.delete(key)
  }
}

/** An error of the thread, such as one without memory, is the outcome of the job. */
async function outcomeOf(play: () => Promise<JobOutcome<unknown>>): Promise<JobOutcome<unknown>> {
  try {
    return await play()
  } catch (error) {
    return { error: plainError(error) }
  }
}

async function inputOf(
  jetStream: JetStream,
  { names: { dataStream } }: Run,
  { data }: JsMsg,
): Promise<{ input: unknown; msMax: number | null }> {
  const { input, parts, msMax } = unpack<TodoMessage>(data)
  if (input !== null) return { input: unpack(input), msMax }
  const stored = await Promise.all(
    parts.map((seq) => persist(jetStream, () => jetStream.manager.streams.getMessage(dataStream, { seq }))),
  )
  return { input: unpack(join(stored.map((part) => part!.data))), msMax }
}

async function store(
  { jetStream, partBytes }: Player,
  { names: { dataStream, result } }: Run,
  key: string,
  attempt: string,
  outcome: JobOutcome<unknown>,
): Promise<void> {
  const all = split(pack(outcome), partBytes)
  await Promise.all(
    all.map((bytes, part) =>
      publish(
        jetStream,
        dataStream,
        result(key),
        pack({ attempt, part, parts: all.length, bytes } satisfies ResultPart),
      ),
    ),
  )
}
