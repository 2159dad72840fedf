/** What happens to a write whose reservations expired before they were confirmed. */
import { Attempt, type Values } from './attempt.js'
import { BusyDocumentError, ReservationLostError, ValueTakenError } from '../errors.js'
import { causeOf, type Fields } from '../port.js'
import { guardOf } from '../specs/spec-values.js'
import type { UniqueSpec } from '../specs/spec.js'
import { hasValues, reserveAll, valuesOf } from './steps.js'
import { readMain, repeated, type World } from '../world.js'

/**
 * Called when reservations to confirm no longer exist. If the values are free, or the document
 * has new values, nothing is wrong. Otherwise the write is undone if possible.
 * @throws ReservationLostError
 */
export async function recover(
  world: World,
  attempt: Attempt,
  wanted: ReadonlyMap<UniqueSpec, Values>,
  missing: readonly UniqueSpec[],
  undo: () => Promise<boolean>,
): Promise<void> {
  const main = await readMain(world, attempt.owner)
  const lost = new Map([...wanted].filter(([spec]) => missing.includes(spec)))
  if (main === null || !hasValues(main, lost)) return
  const again = new Attempt(world, attempt.owner, 'change')
  try {
    await reserveAll(world, again, lost)
  } catch (error) {
    await again.compensate()
    // Another attempt for the same document handles its values.
    if (error instanceof BusyDocumentError) return
    if (!(error instanceof ValueTakenError)) throw causeOf(error)
    throw new ReservationLostError(attempt.owner, await undo())
  }
  await again.finish()
}

export async function undoInsert(world: World, document: Fields): Promise<boolean> {
  const { main, clock, specs } = world
  const filter = { _id: { $eq: document['_id'] }, ...guardOf(specs, document) }
  const undone = await repeated(clock, () => main.deleteOne(filter)).catch(() => 0)
  if (undone === 0) return false
  const attempt = new Attempt(world, document['_id'], 'adopt')
  const held = valuesOf(specs, document)
  for (const proxy of world.proxies) {
    for (const spec of proxy.specs)
      if (held.has(spec)) await attempt.demote(proxy, spec, held.get(spec)!).catch(() => {})
  }
  await attempt.compensate()
  return true
}
