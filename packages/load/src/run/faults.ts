/** Faults of a Shardlab cluster, each at its moment. */
import { parseDuration } from '@shardlab/quantities'
import type { Document } from 'mongodb'
import { messageOf, OptionError } from '../option-error.js'
import type { Mark } from '../types.js'
import type { Control } from './control.js'

export interface PlannedFault {
  /** Without its moment: what the cluster is told. */
  readonly text: string
  readonly atSecs: number
}

/** `crash shard02 at 10s for 5s`; without `at`: with the first operation. */
export function parseFault(text: string): PlannedFault {
  const at = /(?:^|\s)at\s+(\d\S*)(?=\s|$)/.exec(text)
  const atMs = at === null ? 0 : parseDuration(at[1]!)
  const rest = at === null ? text : text.slice(0, at.index) + text.slice(at.index + at[0].length)
  if (atMs === null || rest.trim() === '' || (at === null && /(?:^|\s)at(\s|$)/.test(text))) {
    throw new OptionError(`the fault "${text}" is not understood: write it as in "crash shard02 at 10s for 5s"`)
  }
  return { text: rest.trim().replace(/\s+/g, ' '), atSecs: atMs / 1000 }
}

/** Throws an OptionError when the server has no faults, or does not understand these. */
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
    // A fault that says itself how long it waits cannot be put off.
    if (/\safter\s/.test(text)) continue
    try {
      const { id } = await admin.command({ shardlab: 'apply', fault: text + later })
      await admin.command({ shardlab: 'heal', id })
    } catch (error) {
      throw refusalOf(text, error)
    }
  }
}

/** Puts a fault off beyond the end of any run: the cluster reads it, and nothing happens. */
const later = ' after 24h'

const refusalOf = (text: string, error: unknown): OptionError =>
  new OptionError(`the fault "${text}" was refused: ${messageOf(error).replace(later, '')}`)

export interface ScheduledFaults {
  /** Rejects with an OptionError when the cluster refuses one, and never resolves. */
  readonly failed: Promise<never>
  /** Those that the cluster has taken. One that lasts until the end of the operations has no end yet: infinite. */
  readonly marks: readonly Mark[]
  /** Heals those that have no end of their own, so that everything can be read back; those whose moment has not come never come. */
  end(): Promise<void>
  /** Lets no further ones come. */
  stop(): void
}

interface AppliedMark extends Mark {
  readonly id: number
  untilSecs: number | null
}

/**
 * Applies faults at their moments, until they are ended or stopped.
 * @param nowSecs what time it is on the timeline
 */
export function scheduleFaults(
  { client }: Control,
  faults: readonly PlannedFault[],
  nowSecs: () => number,
): ScheduledFaults {
  const admin = client.db('admin')
  let fail: (error: Error) => void
  const failed = new Promise<never>((_, reject) => (fail = reject))
  // Nobody may be listening yet.
  failed.catch(() => {})
  const marks: AppliedMark[] = []
  const applying: Promise<void>[] = []
  const list = async (): Promise<Document[]> => (await admin.command({ shardlab: 'list' }))['faults'] as Document[]
  const apply = async ({ text }: PlannedFault): Promise<void> => {
    const { id } = await admin.command({ shardlab: 'apply', fault: text })
    const atSecs = nowSecs()
    // One that is over at once, as a restart, is not in the list.
    const { beginsAt, healsAt } = (await list()).find((fault) => fault['id'] === id) ?? {}
    const lastsSecs =
      healsAt instanceof Date ? (healsAt.getTime() - (beginsAt as Date).getTime()) / 1000 : Number.POSITIVE_INFINITY
    marks.push({ id: id as number, text, atSecs, untilSecs: healsAt === undefined ? null : atSecs + lastsSecs })
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
      const left = new Set((await list()).map(({ id }) => id as number))
      for (const mark of endless) {
        if (left.has(mark.id)) await admin.command({ shardlab: 'heal', id: mark.id }).catch(() => {})
        // Somebody else has healed it, nobody knows when.
        else mark.untilSecs = null
      }
    },
  }
}
