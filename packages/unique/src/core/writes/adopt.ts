import { Attempt, maxTries, type Values } from './attempt.js'
import { BusyDocumentError } from '../errors.js'
import type { Fields } from '../port.js'
import { isExpired, isReserved, lookup, ownerOf, type Proxy } from '../proxy.js'
import type { UniqueSpec } from '../specs/spec.js'
import { recover } from './recover.js'
import { hasValues, reserveAll, reserving, valuesOf } from './steps.js'
import { sameValue } from '../values.js'
import { readMain, repeated, type World } from '../world.js'

/**
 * Reserves the values of an existing document, and confirms them if it still has them.
 * @returns `changed`: another write changed or deleted the document during the adoption
 */
export async function adopt(world: World, document: Fields): Promise<'reserved' | 'already' | 'changed'> {
  const owner = document['_id']
  let seen = document
  for (let tries = 1; tries <= maxTries; tries++) {
    const wanted = await unreserved(world, seen)
    if (wanted.size === 0) return tries === 1 ? 'already' : 'changed'
    const attempt = new Attempt(world, owner, 'adopt')
    await reserving(attempt, () => reserveAll(world, attempt, wanted))
    const now = await readMain(world, owner)
    if (now !== null && hasValues(now, wanted)) {
      const missing = await attempt.finish()
      if (missing.length > 0) await recover(world, attempt, wanted, missing, async () => false)
      return tries === 1 ? 'reserved' : 'changed'
    }
    await attempt.compensate()
    if (now === null) return 'changed'
    // The other write has reserved the values that it changed, and no others.
    seen = now
  }
  throw new BusyDocumentError(owner)
}

/** Values of the document that are not reserved for it. */
async function unreserved(world: World, document: Fields): Promise<Map<UniqueSpec, Values>> {
  const wanted = valuesOf(world.specs, document)
  for (const proxy of world.proxies) {
    for (const spec of proxy.specs) {
      if (wanted.has(spec) && (await isHeldBy(world, proxy, spec, wanted.get(spec)!, document['_id'])))
        wanted.delete(spec)
    }
  }
  return wanted
}

async function isHeldBy(
  world: World,
  proxy: Proxy,
  spec: UniqueSpec,
  values: Values,
  owner: unknown,
): Promise<boolean> {
  const holder = await repeated(world.clock, () => lookup(proxy, spec, values))
  return (
    holder !== null &&
    !(isReserved(holder) && isExpired(holder, world.clock.now())) &&
    sameValue(ownerOf(holder), owner)
  )
}
