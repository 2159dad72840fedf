import { ObjectId, type Db } from 'mongodb'
import type { Proxy } from '../core/proxy.js'
import type { UniqueEvent, World } from '../core/world.js'
import { driverPort, inSession, realClock, type AnyCollection, type AnyDocument } from './adapter.js'
import { clientOf } from './handles.js'
import type { ParsedOptions } from './options.js'
import { driverTransactions } from './transactions.js'

/**
 * Decisions need the data of the primaries with unconverted types, whatever the options of the
 * caller's collection.
 */
const primary = {
  readPreference: 'primary',
  readConcern: { level: 'local' },
  promoteValues: true,
  promoteLongs: true,
  promoteBuffers: false,
  bsonRegExp: false,
  raw: false,
  useBigInt64: false,
} as const

/** @returns also the main collection as the protocol reads it */
export function driverWorld(
  db: Db,
  collectionName: string,
  options: ParsedOptions,
  tell: (event: UniqueEvent) => void,
): { readonly reader: AnyCollection; readonly world: World } {
  const { reservationMs, busyMs, specs, transactions } = options
  const reader = db.collection<AnyDocument>(collectionName, primary)
  const collections = new Map(
    options.proxies.map(
      ({ name }) => [name, db.collection<AnyDocument>(name, { ...primary, writeConcern: { w: 'majority' } })] as const,
    ),
  )
  const proxies = options.proxies.map((plan): Proxy => ({ ...plan, port: driverPort(collections.get(plan.name)!) }))
  const world: World = {
    main: driverPort(reader),
    proxies,
    specs,
    clock: realClock,
    newToken: () => new ObjectId(),
    reservationMs,
    busyMs,
    markers: true,
    tell,
    transactions: transactions
      ? driverTransactions(
          clientOf(db),
          (session) => ({
            main: driverPort(reader, session),
            proxies: inSession(proxies, collections, session),
            session,
          }),
          { db, name: collectionName },
        )
      : null,
  }
  return { reader, world }
}
