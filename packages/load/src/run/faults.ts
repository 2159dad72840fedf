import { parseDuration } from '@shardlab/quantities'
import { MongoServerError, type Document } from 'mongodb'
import { randomUUID } from 'node:crypto'
import { messageOf, OptionError } from '../option-error.js'
import type { Mark } from '../types.js'
import { nowUs, sleep } from './clock.js'
import type { Control } from './control.js'

export interface PlannedFault {
  /** Without its time, as sent to the cluster. */
  readonly text: string
  readonly atSecs: number
}

/** `crash shard02 at 10s for 5s`. Without `at`, the fault starts with the first operation. */
export function parseFault(text: string): PlannedFault {
  const at = /(?:^|\s)at\s+(\d\S*)(?=\s|$)/.exec(text)
  const atMs = at === null ? 0 : parseDuration(at[1]!)
  const rest = at === null ? text : text.slice(0, at.index) + text.slice(at.index + at[0].length)
  if (atMs === null || rest.trim() === '' || (at === null && /(?:^|\s)at(\s|$)/.test(text))) {
    throw new OptionError(`the fault "${text}" is not understood: write it as in "crash shard02 at 10s for 5s"`)
  }
  return { text: rest.trim().replace(/\s+/g, ' '), atSecs: atMs / 1000 }
}

/** @throws OptionError if the server has no faults, or rejects one of these */
export async function checkFaults({ client, isEmulator }: Control, faults: readonly PlannedFault[]): Promise<void> {
  const admin = client.db('admin')
  const there =
    isEmulator &&
    (await admin.command({ shardlab: 'list' }).then(
      () => true,
      () => false,
    ))
  if (!there) throw new OptionError('--fault needs a Shardlab cluster: other servers have no command for faults')
  for (const { text } of faults) {
    // A fault with its own delay cannot be postponed.
    if (/\safter\s/.test(text)) continue
    try {
      const { id } = await admin.command({ shardlab: 'apply', fault: text + later })
      await admin.command({ shardlab: 'heal', id })
    } catch (error) {
      throw refusalOf(text, error)
    }
  }
}

const patienceUs = 30e6
const pauseMs = 100

/** Beyond the end of any run, so that the cluster only validates the fault. */
const later = ' after 24h'

const refusalOf = (text: string, error: unknown): OptionError =>
  new OptionError(`the fault "${text}" was refused: ${messageOf(error).replace(later, '')}`)

export interface ScheduledFaults {
  /** Rejects with an OptionError if the cluster refuses a fault; never resolves. */
  readonly failed: Promise<never>
  /** A fault that lasts until the end of the operations ends at infinity. */
  readonly marks: readonly Mark[]
  /** Heals faults without an end, so that everything can be read back, and cancels later ones. */
  end(): Promise<void>
  stop(): void
}

interface AppliedMark extends Mark {
  readonly id: string
  untilSecs: number | null
}

/** @param nowSecs current time on the timeline */
export function scheduleFaults(
  { client }: Control,
  faults: readonly PlannedFault[],
  nowSecs: () => number,
): ScheduledFaults {
  const admin = client.db('admin')
  let fail: (error: Error) => void
  const failed = new Promise<never>((_, reject) => (fail = reject))
  // The caller may not be listening yet.
  failed.catch(() => {})
  const marks: AppliedMark[] = []
  const applying: Promise<void>[] = []
  /** The router may be down, or its answers be lost, by one of the faults. */
  const ask = async (command: Document): Promise<Document> => {
    const untilUs = nowUs() + patienceUs
    for (;;) {
      try {
        return await admin.command(command)
      } catch (error) {
        if (error instanceof MongoServerError || nowUs() > untilUs) throw error
      }
      await sleep(pauseMs)
    }
  }
  const list = async (): Promise<Document[]> => (await ask({ shardlab: 'list' }))['faults'] as Document[]
  /** A repeated request with the same id applies nothing again. */
  const applied = (fault: string): Promise<Document> => ask({ shardlab: 'apply', fault, requestId: randomUUID() })
  const apply = async ({ text }: PlannedFault): Promise<void> => {
    const askedAtSecs = nowSecs()
    // A fault that ends at once, such as a restart, has no times.
    const { id, beginsAt, healsAt } = await applied(text)
    // The only router may answer after the fault.
    const isOver = healsAt instanceof Date && nowSecs() - askedAtSecs > (healsAt.getTime() - beginsAt.getTime()) / 1000
    const atSecs = isOver ? askedAtSecs : nowSecs()
    const lastsSecs =
      healsAt instanceof Date ? (healsAt.getTime() - (beginsAt as Date).getTime()) / 1000 : Number.POSITIVE_INFINITY
    marks.push({ id, text, atSecs, untilSecs: healsAt === undefined ? null : atSecs + lastsSecs })
  }
  const timers = faults.map((fault) =>
    setTimeout(() => {
      applying.push(apply(fault).catch((error: unknown) => fail(refusalOf(fault.text, error))))
    }, fault.atSecs * 1000),
  )
  const stop = (): void => timers.forEach((timer) => clearTimeout(timer))
  return {
    failed,
    marks,
    stop,
    async end() {
      stop()
      await Promise.all(applying)
      const endless = marks.filter(({ untilSecs }) => untilSecs === Number.POSITIVE_INFINITY)
      if (endless.length === 0) return
      const left = new Set((await list()).map(({ id }) => id as string))
      for (const mark of endless) {
        if (left.has(mark.id)) await admin.command({ shardlab: 'heal', id: mark.id }).catch(() => {})
        // Healed by another client at an unknown time.
        else mark.untilSecs = null
      }
    },
  }
}
