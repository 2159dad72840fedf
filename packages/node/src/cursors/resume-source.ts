import { giveUpTurn, type TimeLimit } from '@shardlab/member'
import type { CursorSource, FillingCommand } from './cursor-manager.js'

/** Whether `next` has returned null before the end of the source. */
export function hasPaused({ slice, dry }: CursorSource): boolean {
  return slice?.isOver === true || dry === true
}

/**
 * For a source that {@link hasPaused}: gives up the turn, or fetches documents from other members.
 * @throws CommandError 175 QueryPlanKilled, 50 MaxTimeMSExpired, the error with which the operation
 *   was killed, and those of {@link CursorSource.fill}
 */
export async function resumeSource(
  command: FillingCommand,
  source: CursorSource,
  timeLimit: TimeLimit | null,
): Promise<void> {
  const { host, operation } = command
  const { slice } = source
  if (slice?.isOver !== true) return source.fill!(command, timeLimit)
  source.save?.()
  const { reads } = source
  if (reads !== undefined) host.cursors.pausedReads.set(reads, operation)
  try {
    await host.reads.during(host.context, operation, (context) => giveUpTurn(context, operation, slice))
  } finally {
    if (reads !== undefined) host.cursors.pausedReads.delete(reads)
  }
  source.restore?.()
}

/** The next document, over as many turns as that takes. Null: the end. */
export function nextDocument(
  command: FillingCommand,
  source: CursorSource,
): Uint8Array | null | Promise<Uint8Array | null> {
  const document = source.next()
  return document === null && hasPaused(source) ? nextAfterPauses(command, source) : document
}

async function nextAfterPauses(command: FillingCommand, source: CursorSource): Promise<Uint8Array | null> {
  for (;;) {
    await resumeSource(command, source, command.operation.timeLimit)
    const document = source.next()
    if (document !== null || !hasPaused(source)) return document
  }
}

/** Reads the source to its end, over as many turns as that takes. */
export function readAll(
  command: FillingCommand,
  source: CursorSource,
  visit: (document: Uint8Array) => void,
): Promise<void> {
  return readWhile(command, source, (document) => {
    visit(document)
    return true
  })
}

/** Reads until `visit` returns false, or to the end. */
export async function readWhile(
  command: FillingCommand,
  source: CursorSource,
  visit: (document: Uint8Array) => boolean,
): Promise<void> {
  for (;;) {
    for (let document = source.next(); document !== null; document = source.next()) if (!visit(document)) return
    if (!hasPaused(source)) return
    await resumeSource(command, source, command.operation.timeLimit)
  }
}
