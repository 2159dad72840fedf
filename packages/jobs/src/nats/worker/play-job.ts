/** Plays a job that a worker has taken, stores its result, and acknowledges it. */
import type { JsMsg } from '@nats-io/jetstream'
import { OptionError, messageOf } from '@shardlab/nats'
import type { JobThreads } from '../../threads/job-threads.js'
import { plainError, type JobOutcome } from '../../threads/thread-job.js'
import { pack, unpack } from '../codec.js'
import { isNoMessage, isNotFound, persist, publish, type JetStream } from '../jet-stream.js'
import type { ResultPart, TodoMessage, UpMessage } from '../messages.js'
import { keyOf } from '../names.js'
import { join, split } from '../parts.js'
import { Attempt } from './attempt.js'
import type { Run } from './run.js'
import type { WorkerEvent } from './worker-event.js'

export interface Player {
  readonly jetStream: JetStream
  readonly partBytes: number
  readonly threads: JobThreads<unknown, unknown>
  readonly onEvent: (event: WorkerEvent) => void
  /** Jobs that have not begun are for other workers. */
  readonly isReturning: () => boolean
}

type End = Extract<WorkerEvent, { type: 'ended' }>['how']

/** @throws OptionError if the server is gone */
export async function playJob(player: Player, run: Run, message: JsMsg): Promise<void> {
  const { jetStream, onEvent } = player
  const { names, kind, attempts, ackWaitMs } = run
  const key = keyOf(message.subject)
  const playing = attempts.get(key)
  if (playing !== undefined) return playing.join(message)
  const attempt = new Attempt(jetStream, names, key, message, ackWaitMs)
  attempts.set(key, attempt)
  onEvent({ type: 'taken', run: names.name, kind: kind.name, key })
  let how: End
  try {
    how = await play(player, run, message, attempt)
  } finally {
    attempt.end()
    attempts.delete(key)
  }
  onEvent({ type: 'ended', run: names.name, key, how })
}

async function play(player: Player, run: Run, message: JsMsg, attempt: Attempt): Promise<End> {
  const { jetStream, threads } = player
  const up = (sent: Omit<UpMessage, 'attempt'>): void => {
    const { connection } = jetStream.link
    const bytes = pack({ attempt: attempt.id, ...sent } satisfies UpMessage)
    if (!connection.isClosed()) connection.publish(run.names.up(attempt.key), bytes)
  }
  const giveBack = async (): Promise<End> => {
    up({ type: 'returned', content: await attempt.giveBack() })
    return 'returned'
  }
  try {
    const { input, msMax } = await inputOf(jetStream, run, message)
    if (run.isEnded) return 'dropped'
    if (player.isReturning()) return await giveBack()
    up({ type: 'taken', content: null })
    const refusal = run.kind.refusal?.(input) ?? null
    const outcome =
      refusal === null
        ? await outcomeOf(() => {
            attempt.job = threads.play(input, msMax ?? undefined, (sent) => up({ type: 'message', content: sent }))
            return attempt.job.outcome
          })
        : { error: plainError(new OptionError(refusal)) }
    if (run.isEnded) return 'dropped'
    if (outcome === null) return await giveBack()
    await store(player, run, attempt, outcome)
    await attempt.acknowledge()
    return 'stored'
  } catch (error) {
    if (isNotFound(error) || isNoMessage(error)) return 'dropped'
    if (jetStream.link.error() !== null) throw error
    up({ type: 'failed', content: messageOf(error) })
    return 'failed'
  }
}

/** An error of the thread, such as one without memory, is the outcome. null: cancelled. */
async function outcomeOf(play: () => Promise<JobOutcome<unknown>>): Promise<JobOutcome<unknown> | null> {
  try {
    return await play()
  } catch (error) {
    if ((error as Error).name === 'AbortError') return null
    return { error: plainError(error) }
  }
}

async function inputOf(
  jetStream: JetStream,
  { names: { dataStream } }: Run,
  { data }: JsMsg,
): Promise<{ input: unknown; msMax: number | null }> {
  const { input, parts, levels, partBytes, msMax } = unpack<TodoMessage>(data)
  if (input !== null) return { input: unpack(input), msMax }
  const { manager, receiving } = jetStream
  const read = (seq: number) => () => persist(jetStream, () => manager.streams.getMessage(dataStream, { seq }))
  let joined: unknown = parts
  for (let level = 0; level < levels; level++) {
    const stored = await Promise.all((joined as number[]).map((seq) => receiving.during(partBytes, read(seq))))
    joined = unpack(join(stored.map((part) => part!.data)))
  }
  return { input: joined, msMax }
}

async function store(
  { jetStream, partBytes }: Player,
  { names: { dataStream, result } }: Run,
  { id, key }: Attempt,
  outcome: JobOutcome<unknown>,
): Promise<void> {
  const all = split(pack(outcome), partBytes)
  await Promise.all(
    all.map((bytes, part) =>
      publish(
        jetStream,
        dataStream,
        result(key),
        pack({ attempt: id, part, parts: all.length, bytes } satisfies ResultPart),
      ),
    ),
  )
}
