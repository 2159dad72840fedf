import { BackfillRequiredError, ValueTakenError } from '../errors.js'
import type { Fields, ReadablePort } from '../port.js'
import { optionsOf } from '../proxy.js'
import type { UniqueSpec } from '../specs/spec.js'
import { repeated, type World } from '../world.js'
import type { Values } from './attempt.js'
import { oldValues } from './change.js'

/** @throws BackfillRequiredError for values that cannot be searched in the main collection */
export function refuseUnsearchable(building: readonly UniqueSpec[], wanted: ReadonlyMap<UniqueSpec, Values>): void {
  const spec = building.find((each) => each.normalize !== null && wanted.has(each))
  if (spec !== undefined) throw new BackfillRequiredError(spec)
}

/**
 * Until a backfill is complete, existing documents may have values without a reservation. Call
 * after the values were reserved: from then on no other writer can give them to a document.
 * @throws ValueTakenError when another document has one of the values
 */
export async function refuseUnreserved(
  { clock }: Pick<World, 'clock'>,
  main: ReadablePort,
  owner: unknown,
  building: readonly UniqueSpec[],
  wanted: ReadonlyMap<UniqueSpec, Values>,
): Promise<void> {
  for (const spec of building) {
    const values = wanted.get(spec)
    if (values === undefined) continue
    const holder = await repeated(clock, () => holderOf(main, owner, spec, values))
    if (holder !== null) throw new ValueTakenError(spec, values, holder['_id'], null)
  }
}

async function holderOf(main: ReadablePort, owner: unknown, spec: UniqueSpec, values: Values): Promise<Fields | null> {
  const filter: Fields = { _id: { $ne: owner } }
  spec.fields.forEach((field, i) => {
    // With a single field that is skipped when it is missing, only null itself has a reservation.
    const missing = spec.missing === 'reserve' || spec.fields.length > 1
    filter[field] = values[i] !== null ? { $eq: values[i] } : missing ? { $eq: null } : { $eq: null, $exists: true }
  })
  for await (const document of main.find(filter, optionsOf(spec))) {
    // An array with the value matches as well, but has no reservation.
    if (oldValues(spec, document) !== null) return document
  }
  return null
}
