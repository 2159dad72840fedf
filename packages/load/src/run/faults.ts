/** Faults of a Shardlab cluster, each at its moment. */
import { OptionError } from '../option-error.js'
import { messageOf, type Control } from './control.js'

export interface PlannedFault {
  /** Without its moment: what the cluster is told. */
  readonly text: string
  readonly atSecs: number
}

const unitSecs: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 }

/** `crash shard02 at 10s for 5s`; without `at`: with the first operation. */
export function parseFault(text: string): PlannedFault {
  const at = /(?:^|\s)at\s+(\d+(?:\.\d+)?)(ms|s|m|h)(?=\s|$)/.exec(text)
  const rest = at === null ? text : text.slice(0, at.index) + text.slice(at.index + at[0].length)
  if (rest.trim() === '' || (at === null && /(?:^|\s)at(\s|$)/.test(text))) {
    throw new OptionError(`the fault "${text}" is not understood: write it as in "crash shard02 at 10s for 5s"`)
  }
  return { text: rest.trim().replace(/\s+/g, ' '), atSecs: at === null ? 0 : Number(at[1]) * unitSecs[at[2]!]! }
}

/** Throws an OptionError when the server has no faults. */
export async function checkFaultsAreThere({ client, isEmulator }: Control): Promise<void> {
  const there =
    isEmulator &&
    (await client
      .db('admin')
      .command({ shardlab: 'list' })
      .then(
        () => true,
        () => false,
      ))
  if (!there) throw new OptionError('--fault needs a Shardlab cluster: other servers have no command for faults')
}

/**
 * Applies faults at their moments until `stop` is called.
 * @param onApplied gets each one when the cluster has taken it
 * @returns `failed` rejects with an OptionError when the cluster refuses one, and never resolves
 */
export function scheduleFaults(
  { client }: Control,
  faults: readonly PlannedFault[],
  onApplied: (fault: PlannedFault) => void,
): { readonly failed: Promise<never>; stop(): void } {
  let fail: (error: Error) => void
  const failed = new Promise<never>((_, reject) => (fail = reject))
  // Nobody may be listening yet.
  failed.catch(() => {})
  const timers = faults.map((fault) =>
    setTimeout(() => {
      client
        .db('admin')
        .command({ shardlab: 'apply', fault: fault.text })
        .then(
          () => onApplied(fault),
          (error: unknown) => fail(new OptionError(`the fault "${fault.text}" was refused: ${messageOf(error)}`)),
        )
    }, fault.atSecs * 1000),
  )
  return { failed, stop: () => timers.forEach((timer) => clearTimeout(timer)) }
}
